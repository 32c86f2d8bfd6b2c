// The rows of agents: who holds locks, who was refused of late, and who is in whose way.

import { holderKey } from './holder.js';
import { refusedByIntent } from './intent_refusals.js';
import { timeOf } from './locks.js';

/** @typedef {import('./types.js').Agent} Agent */
/** @typedef {import('./types.js').Conflict} Conflict */
/** @typedef {import('./types.js').Lock} Lock */

/** How long a refusal is shown. */
export const REFUSAL_MS = 10 * 60_000;
/** Most holders that are remembered. */
const MOST_NOTES = 500;

/**
 * What is known of a holder beside its locks.
 * @typedef {object} Note
 * @property {string} user
 * @property {string} userName
 * @property {string | null} agentId
 * @property {string} message
 * @property {string | null} command
 * @property {number | null} commandAt
 * @property {{ at: number, files: string[], conflicts: string[] } | null} refusal The last, if no claim of these files has been granted since.
 * @property {import('./types.js').IntentRefusal | null} refusedByIntent The last by an intent, if it was not let in since.
 */

/** @typedef {Map<string, Note>} Notes By key of the holder; whoever was heard last is last. */

/**
 * @param {Notes} notes
 * @param {any[]} events In their order.
 * @returns {Notes} The same object if nothing changes.
 */
export function noteEvents(notes, events) {
  let next = notes;
  for (const event of events) {
    if (event.user === undefined) continue;
    if (next === notes) next = new Map(notes);
    const key = holderKey(event.user, event.agent_id);
    const note = noted(next.get(key), event);
    next.delete(key);
    next.set(key, note);
    if (next.size > MOST_NOTES) next.delete(/** @type {string} */ (next.keys().next().value));
  }
  return next;
}

/**
 * @param {Note | undefined} before
 * @param {any} event
 * @returns {Note}
 */
function noted(before, event) {
  const at = timeOf(event);
  let refusal = before?.refusal ?? null;
  if (event.type === 'lock_refused' && event.status !== 'OPEN') {
    // A holder that an intent did not let in waits for no lock: what it names are the files that are not its own.
    refusal = { at, files: event.files ?? [], conflicts: event.reason === 'INTENT' ? [] : event.conflicts ?? [] };
  } else if (event.type === 'lock_granted' && refusal) {
    // One granted file of those that were refused: the holder is no longer kept from its work.
    const granted = new Set(event.files);
    if (refusal.files.some((path) => granted.has(path))) refusal = null;
  }
  return {
    user: event.user,
    userName: event.user_name ?? event.user,
    agentId: event.agent_id ?? null,
    message: event.message ?? before?.message ?? '',
    command: event.action ?? before?.command ?? null,
    commandAt: event.action ? at : before?.commandAt ?? null,
    refusal,
    refusedByIntent: refusedByIntent(before?.refusedByIntent ?? null, event),
  };
}

/**
 * @param {Map<string, Lock[]>} locks
 * @param {Notes} notes
 * @param {number} now
 * @returns {Agent[]} Those in conflict first, then by name.
 */
export function agentsOf(locks, notes, now) {
  /** @type {Map<string, Agent>} */
  const agents = new Map();
  for (const held of locks.values()) {
    for (const lock of held) {
      let agent = agents.get(lock.holder);
      if (!agent) agents.set(lock.holder, (agent = agentOf(lock.holder, lock, notes.get(lock.holder))));
      agent.locks.push(lock);
    }
  }
  for (const [holder, note] of notes) {
    if (!note.refusal || now - note.refusal.at > REFUSAL_MS) continue;
    let agent = agents.get(holder);
    if (!agent) agents.set(holder, (agent = agentOf(holder, note, note)));
    agent.conflicts = conflictsOf(holder, note.refusal, locks);
    if (agent.locks.length === 0) agent.since = note.refusal.at;
  }
  for (const agent of agents.values()) {
    if (agent.locks.length > 0) describe(agent);
    for (const { holder, paths, at, isWaiting } of agent.conflicts) {
      if (isWaiting) agents.get(holder)?.conflicts.push({ holder: agent.holder, paths, isWaiting: false, at });
    }
  }
  const rank = (/** @type {Agent} */ agent) => (agent.conflicts.length > 0 ? 0 : agent.locks.length > 0 ? 1 : 2);
  return [...agents.values()].sort((one, other) => rank(one) - rank(other) || (one.holder < other.holder ? -1 : 1));
}

/**
 * @param {string} holder
 * @param {{ user: string, userName: string, agentId: string | null, message: string }} source
 * @param {Note | undefined} note
 * @returns {Agent}
 */
function agentOf(holder, { user, userName, agentId, message }, note) {
  const { command = null, commandAt = null } = note ?? {};
  return { holder, user, userName, agentId, locks: [], message, since: 0, expiry: null, command, commandAt, conflicts: [] };
}

/**
 * Sets what follows from the locks of an agent.
 * @param {Agent} agent
 */
function describe(agent) {
  agent.locks.sort((one, other) => (one.path < other.path ? -1 : 1));
  agent.since = Math.min(...agent.locks.map((lock) => lock.since));
  agent.expiry = Math.min(...agent.locks.map((lock) => lock.expiry));
  agent.message = agent.locks.reduce((one, other) => (other.renewedAt > one.renewedAt ? other : one)).message;
}

/**
 * @param {string} holder Who was refused.
 * @param {{ at: number, conflicts: string[] }} refusal
 * @param {Map<string, Lock[]>} locks
 * @returns {Conflict[]} With each holder that still has one of the files.
 */
function conflictsOf(holder, { at, conflicts }, locks) {
  /** @type {Map<string, string[]>} */
  const paths = new Map();
  for (const path of conflicts) {
    for (const lock of locks.get(path) ?? []) {
      if (lock.holder !== holder) paths.set(lock.holder, [...(paths.get(lock.holder) ?? []), path]);
    }
  }
  return [...paths].map(([other, between]) => ({ holder: other, paths: between, isWaiting: true, at }));
}
