// The agents of the branch: holders of locks, holders that wait for others, and holders that were refused recently.

import { holderKey } from './holder.js';
import { nextIntentRefusal } from './intent_refusals.js';
import { timeOf } from './locks.js';
import { findBlockers } from './waits.js';

/** @import { Agent, Lock } from './types.js' */

/** How long a refusal is shown. */
export const REFUSAL_MS = 10 * 60_000;
/** Maximum number of holders that the page remembers. */
const MAX_NOTES = 500;

/**
 * The facts that the page has about a holder besides its locks.
 * @typedef {object} Note
 * @property {string} user
 * @property {string} userName
 * @property {string | null} agentId
 * @property {string} message
 * @property {string | null} command
 * @property {number | null} commandAt
 * @property {number} lastActiveAt
 * @property {{ at: number, files: string[] } | null} refusal The last one, if the holder has claimed none of its files
 *   since.
 * @property {import('./types.js').IntentRefusal | null} intentRefusal The last refusal by an intent, if no claim was
 *   granted since.
 */

/** @typedef {Map<string, Note>} Notes By key of the holder, the most recently active last. */

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
    const note = noteAfter(next.get(key), event);
    next.delete(key);
    next.set(key, note);
    if (next.size > MAX_NOTES) next.delete(/** @type {string} */ (next.keys().next().value));
  }
  return next;
}

/** @param {Note | undefined} before @param {any} event @returns {Note} */
function noteAfter(before, event) {
  const at = timeOf(event);
  let refusal = before?.refusal ?? null;
  if (event.type === 'lock_refused' && event.status !== 'OPEN') {
    refusal = { at, files: event.files ?? [] };
  } else if (event.type === 'lock_granted' && refusal) {
    // With one of the refused files, the holder can work again.
    const granted = new Set(event.files);
    if (refusal.files.some((path) => granted.has(path))) refusal = null;
  }
  // Expiries, reservations, and what others do to its locks are no activity of the holder.
  const isActive = !event.forced_by && event.type !== 'lock_expired' && event.type !== 'lock_reserved';
  const lastActiveAt = before?.lastActiveAt ?? 0;
  return {
    user: event.user,
    userName: event.user_name ?? event.user,
    agentId: event.agent_id ?? null,
    message: event.message ?? before?.message ?? '',
    command: event.action ?? before?.command ?? null,
    commandAt: event.action ? at : before?.commandAt ?? null,
    lastActiveAt: isActive ? Math.max(at, lastActiveAt) : lastActiveAt,
    refusal,
    intentRefusal: nextIntentRefusal(before?.intentRefusal ?? null, event),
  };
}

/**
 * @param {Map<string, Lock[]>} locks
 * @param {import('./waits.js').Wait[]} waits
 * @param {Notes} notes
 * @param {number} now
 * @returns {Agent[]} Agents in conflict first, then by name.
 */
export function agentsOf(locks, waits, notes, now) {
  /** @type {Map<string, Agent>} */
  const agents = new Map();
  /** @param {string} holder @param {AgentSource} source */
  const agentFor = (holder, source) => {
    let agent = agents.get(holder);
    if (!agent) agents.set(holder, (agent = newAgent(holder, source, notes.get(holder))));
    return agent;
  };
  for (const pathLocks of locks.values()) {
    for (const lock of pathLocks) agentFor(lock.holder, lock).locks.push(lock);
  }
  for (const [holder, note] of notes) {
    if (!note.refusal || now - note.refusal.at > REFUSAL_MS || agents.has(holder)) continue;
    agentFor(holder, note).since = note.refusal.at;
  }
  for (const { wait, byHolder } of findBlockers(waits, locks)) {
    const agent = agentFor(wait.holder, wait);
    agent.wait = wait;
    agent.conflicts = [...byHolder].map(([holder, paths]) => ({ holder, paths, isWaiting: true, at: wait.since }));
    if (agent.locks.length === 0) agent.since = wait.since;
  }
  for (const agent of agents.values()) {
    if (agent.locks.length > 0) summarizeLocks(agent);
    for (const { holder, paths, at, isWaiting } of agent.conflicts) {
      if (isWaiting) agents.get(holder)?.conflicts.push({ holder: agent.holder, paths, isWaiting: false, at });
    }
  }
  const rank = (/** @type {Agent} */ agent) => (agent.conflicts.length > 0 ? 0 : agent.locks.length > 0 ? 1 : 2);
  return [...agents.values()].sort((a, b) => rank(a) - rank(b) || (a.holder < b.holder ? -1 : 1));
}

/** @typedef {{ user: string, userName: string, agentId: string | null, message: string }} AgentSource */

/**
 * @param {string} holder
 * @param {AgentSource} source
 * @param {Note | undefined} note
 * @returns {Agent}
 */
function newAgent(holder, { user, userName, agentId, message }, note) {
  const { command = null, commandAt = null, lastActiveAt = 0 } = note ?? {};
  return {
    holder, user, userName, agentId, message, command, commandAt, lastActiveAt,
    locks: [], since: 0, expiry: null, conflicts: [], wait: null,
  };
}

/**
 * Sets the fields that depend on the locks of an agent.
 * @param {Agent} agent
 */
function summarizeLocks(agent) {
  agent.locks.sort((a, b) => (a.path < b.path ? -1 : 1));
  agent.since = Math.min(...agent.locks.map((lock) => lock.since));
  agent.expiry = Math.min(...agent.locks.map((lock) => lock.expiry));
  const newest = agent.locks.reduce((a, b) => (b.renewedAt > a.renewedAt ? b : a));
  agent.message = newest.message;
  agent.lastActiveAt = Math.max(agent.lastActiveAt, newest.renewedAt);
}
