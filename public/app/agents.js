// The rows of agents: who holds locks, who waits for whom, and who was refused of late.

import { holderKey } from './holder.js';
import { refusedByIntent } from './intent_refusals.js';
import { timeOf } from './locks.js';
import { blockedBy } from './waits.js';

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
 * @property {number} heardAt
 * @property {{ at: number, files: string[] } | null} refusal The last, if no claim of these files has been granted since.
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
    refusal = { at, files: event.files ?? [] };
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
    // What others do with its locks, and what happens to them by itself, is no sign of life.
    heardAt: event.forced_by || event.type === 'lock_expired' || event.type === 'lock_reserved' ? before?.heardAt ?? 0 : Math.max(at, before?.heardAt ?? 0),
    refusal,
    refusedByIntent: refusedByIntent(before?.refusedByIntent ?? null, event),
  };
}

/**
 * @param {Map<string, Lock[]>} locks
 * @param {import('./waits.js').Wait[]} waits
 * @param {Notes} notes
 * @param {number} now
 * @returns {Agent[]} Those in conflict first, then by name.
 */
export function agentsOf(locks, waits, notes, now) {
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
    if (!note.refusal || now - note.refusal.at > REFUSAL_MS || agents.has(holder)) continue;
    agents.set(holder, { ...agentOf(holder, note, note), since: note.refusal.at });
  }
  for (const { wait, byHolder } of blockedBy(waits, locks)) {
    let agent = agents.get(wait.holder);
    if (!agent) agents.set(wait.holder, (agent = agentOf(wait.holder, wait, notes.get(wait.holder))));
    agent.wait = wait;
    agent.conflicts = [...byHolder].map(([holder, paths]) => ({ holder, paths, isWaiting: true, at: wait.since }));
    if (agent.locks.length === 0) agent.since = wait.since;
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
  const { command = null, commandAt = null, heardAt = 0 } = note ?? {};
  return { holder, user, userName, agentId, locks: [], message, since: 0, expiry: null, command, commandAt, heardAt, conflicts: [], wait: null };
}

/**
 * Sets what follows from the locks of an agent.
 * @param {Agent} agent
 */
function describe(agent) {
  agent.locks.sort((one, other) => (one.path < other.path ? -1 : 1));
  agent.since = Math.min(...agent.locks.map((lock) => lock.since));
  agent.expiry = Math.min(...agent.locks.map((lock) => lock.expiry));
  const newest = agent.locks.reduce((one, other) => (other.renewedAt > one.renewedAt ? other : one));
  agent.message = newest.message;
  agent.heardAt = Math.max(agent.heardAt, newest.renewedAt);
}
