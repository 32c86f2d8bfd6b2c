// Refusals by intents: the latest of each holder, until it is let in.

import { holderKey } from './holder.js';
import { timeOf } from './locks.js';

/** @typedef {import('./types.js').IntentRefusal} IntentRefusal */

/**
 * @param {IntentRefusal | null} before The open refusal of the event's holder.
 * @param {any} event
 * @returns {IntentRefusal | null} The open one after the event.
 */
export function refusedByIntent(before, event) {
  if (event.type === 'lock_granted' && event.status === 'WRITING') return null;
  if (event.type !== 'lock_refused' || event.reason !== 'INTENT' || event.status !== 'WRITING') return before;
  return {
    holder: holderKey(event.user, event.agent_id),
    userName: event.user_name ?? event.user,
    agentId: event.agent_id ?? null,
    code: event.code ?? '',
    // The files that are the reason, where not all of them are.
    paths: event.conflicts ?? event.files ?? [],
    fileCount: event.conflict_count ?? event.file_count ?? 0,
    command: event.action ?? null,
    at: timeOf(event),
  };
}

/**
 * @param {import('./agents.js').Notes} notes
 * @param {IntentRefusal[]} before
 * @returns {IntentRefusal[]} The newest first; `before` if they are the same.
 */
export function openRefusals(notes, before) {
  const open = [...notes.values()].map(({ refusedByIntent: refusal }) => refusal)
    .filter((refusal) => refusal !== null).sort((one, other) => other.at - one.at);
  const isSame = open.length === before.length && open.every((refusal, index) => refusal === before[index]);
  return isSame ? before : open;
}
