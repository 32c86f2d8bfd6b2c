// Labels for a line of the ledger.

import { formatCount } from '../app/formatting.js';

/** @typedef {import('../app/types.js').LedgerLine} LedgerLine */

/** Digits of a hash that distinguish it at a glance. */
const DIGITS = 12;

/** @param {string} hash @returns {string} */
export function shortHash(hash) {
  return hash.slice(0, DIGITS);
}

/** @param {LedgerLine} line @returns {string} The rest of a sentence that begins with the name of the actor. */
export function describeLine({ action, status, tool, files, content }) {
  const toolName = tool ?? 'a tool';
  const target = files.length > 0 ? formatCount(files.length, 'file') : toolName;
  switch (action) {
    case 'INTENT_SELECTION': return status === 'SUCCESS' ? 'selects the intent' : 'cannot select the intent';
    case 'CONTEXT_LOAD': return 'is given the context';
    case 'SCOPE_VIOLATION': return `is refused ${target}`;
    case 'BUDGET_EXHAUSTED': return 'is stopped';
    case 'STATE_TRANSITION': return 'changes state';
    case 'TOOL_EXECUTION': break;
    default: return action.toLowerCase().replaceAll('_', ' ');
  }
  if (status === 'DENIED') return `is refused ${target}`;
  if (content === null) return `uses ${toolName}`;
  const verb = content === 'DELETED' ? 'deletes' : 'changes';
  return status === 'SUCCESS' ? `${verb} ${target}` : `${verb} ${target} without success`;
}

/** @param {LedgerLine} line @returns {string} The reason or the result: the most useful sentence. */
export function outcomeText({ error, summary }) {
  return error ?? summary ?? '';
}
