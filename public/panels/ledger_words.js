// What a line of the ledger says, for people.

import { counted } from '../app/words.js';

/** @typedef {import('../app/types.js').LedgerLine} LedgerLine */

/** Digits of a hash that are enough to tell it apart at a glance. */
const DIGITS = 12;

/** @param {string} hash @returns {string} */
export function shortHash(hash) {
  return hash.slice(0, DIGITS);
}

/**
 * @param {LedgerLine} line
 * @returns {string} What was done, after the name of who did it.
 */
export function lineDeed({ action, status, tool, files, content }) {
  const what = files.length > 0 ? counted(files.length, 'file') : tool ?? 'a tool';
  switch (action) {
    case 'INTENT_SELECTION': return status === 'SUCCESS' ? 'selects the intent' : 'cannot select the intent';
    case 'CONTEXT_LOAD': return 'is given the context';
    case 'SCOPE_VIOLATION': return `is refused ${what}`;
    case 'BUDGET_EXHAUSTED': return 'is stopped';
    case 'STATE_TRANSITION': return 'goes on to another state';
    case 'TOOL_EXECUTION': break;
    default: return action.toLowerCase().replaceAll('_', ' ');
  }
  if (status === 'DENIED') return `is refused ${what}`;
  if (content === null) return `uses ${tool ?? 'a tool'}`;
  const verb = content === 'DELETED' ? 'deletes' : 'changes';
  return status === 'SUCCESS' ? `${verb} ${what}` : `${verb} ${what} without success`;
}

/** @param {LedgerLine} line @returns {string} Why, or what came of it: the sentence that is worth most. */
export function lineOutcome({ error, summary }) {
  return error ?? summary ?? '';
}

/** @param {string} holder `login`, or `login/agent`. @returns {{ user: string, agentId: string | null }} */
export function actorOf(holder) {
  const cut = holder.indexOf('/');
  return cut < 0 ? { user: holder, agentId: null } : { user: holder.slice(0, cut), agentId: holder.slice(cut + 1) };
}
