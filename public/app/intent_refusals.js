// Open refusals by intents: the latest of each holder, until a claim of the holder is granted.

import { holderKey } from './holder.js';
import { timeOf } from './locks.js';

/** @typedef {import('./types.js').IntentRefusal} IntentRefusal */

/**
 * @param {IntentRefusal | null} before The open refusal of the event's holder.
 * @param {any} event
 * @returns {IntentRefusal | null} The open refusal after the event.
 */
export function nextIntentRefusal(before, event) {
  if (event.type === 'lock_granted' && event.status === 'WRITING') return null;
  if (event.type !== 'lock_refused' || event.reason !== 'INTENT' || event.status !== 'WRITING') return before;
  return {
    holder: holderKey(event.user, event.agent_id),
    userName: event.user_name ?? event.user,
    agentId: event.agent_id ?? null,
    code: event.code ?? '',
    // `conflicts` names the files that caused the refusal, if not all files did.
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
  const refusals = [...notes.values()].map((note) => note.intentRefusal)
    .filter((refusal) => refusal !== null)
    .sort((a, b) => b.at - a.at);
  const isSame = refusals.length === before.length && refusals.every((refusal, index) => refusal === before[index]);
  return isSame ? before : refusals;
}
