// Refusals by intents: the latest of each holder, until it is let in.

import { holderKey } from './holder.js';
import { isEnded } from './intents.js';
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
    intentId: event.intent_id ?? null,
    owner: event.owner_intent ?? null,
    paths: event.files ?? [],
    fileCount: event.file_count ?? event.files?.length ?? 0,
    command: event.action ?? null,
    at: timeOf(event),
  };
}

/**
 * @param {import('./agents.js').Notes} notes
 * @param {import('./types.js').Intents} intents
 * @param {IntentRefusal[]} before
 * @returns {IntentRefusal[]} Without those of intents that have ended since, the newest first; `before` if they are the same.
 */
export function openRefusals(notes, intents, before) {
  const ended = new Set(intents.list.filter(isEnded).map(({ id }) => id));
  const open = [...notes.values()].map(({ refusedByIntent: refusal }) => refusal)
    .filter((refusal) => refusal !== null && !(refusal.intentId !== null && ended.has(refusal.intentId) && refusal.code !== 'INTENT_NOT_ACTIVE'))
    .sort((one, other) => /** @type {IntentRefusal} */ (other).at - /** @type {IntentRefusal} */ (one).at);
  const isSame = open.length === before.length && open.every((refusal, index) => refusal === before[index]);
  return isSame ? before : /** @type {IntentRefusal[]} */ (open);
}
