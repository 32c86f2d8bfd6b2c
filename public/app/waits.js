// Claims that wait in the queue of a branch, from a list of locks and from events. Nothing here changes what it is given.

import { holderKey } from './holder.js';
import { timeOf } from './locks.js';

/**
 * A claim that waits for its files.
 * @typedef {object} Wait
 * @property {string} holder
 * @property {string} user
 * @property {string} userName
 * @property {string | null} agentId
 * @property {'WRITING' | 'READING'} mode
 * @property {string[]} paths The files that it claims.
 * @property {string[]} blockers The files whose locks it waits for: its own, or neighbors.
 * @property {string} message
 * @property {number} since When it was first refused: milliseconds since 1970.
 * @property {number | null} reservedUntil Until when its files are reserved for it, once it is its turn.
 */

/**
 * @param {any} body The answer of `GET /api/locks`.
 * @param {string} branch
 * @returns {Wait[]} The oldest first.
 */
export function readWaits(body, branch) {
  return (body.waiting ?? []).filter((/** @type {any} */ claim) => claim.branch === branch).map((/** @type {any} */ claim) => ({
    holder: holderKey(claim.user, claim.agent_id),
    user: claim.user,
    userName: claim.user_name,
    agentId: claim.agent_id ?? null,
    mode: claim.status,
    paths: claim.file_paths,
    blockers: [...new Set((claim.waits_for ?? []).map((/** @type {any} */ lock) => lock.file_path))],
    message: claim.message,
    since: claim.since * 1000,
    reservedUntil: claim.reserved_until ? claim.reserved_until * 1000 : null,
  }));
}

/** What ends all places of its holder: it claimed, released or asked for other files. A renewal, and an expiry, do not. */
const ENDING = new Set(['lock_granted', 'lock_released', 'lock_refused']);

/**
 * A refusal may have a place in the queue, which its next list confirms; the list alone knows of a place that ends because nobody asks any more.
 * @param {Wait[]} waits
 * @param {any[]} events In their order.
 * @returns {Wait[]} The same object if nothing changes.
 */
export function applyToWaits(waits, events) {
  let next = waits;
  for (const event of events) {
    if (event.user === undefined || event.forced_by) continue;
    const holder = holderKey(event.user, event.agent_id);
    if (event.type === 'lock_reserved') next = reserved(next, holder, event);
    if (!ENDING.has(event.type)) continue;
    const isWaiting = event.type === 'lock_refused' && event.reason === 'CONFLICT' && event.status !== 'OPEN';
    const same = isWaiting ? next.find((wait) => wait.holder === holder && isSame(wait.paths, event.files ?? [])) : undefined;
    const others = next.filter((wait) => wait.holder !== holder);
    if (isWaiting) next = [...others, same ? { ...same, blockers: event.conflicts ?? [] } : waitOf(holder, event)].sort((one, other) => one.since - other.since);
    else if (others.length < next.length) next = others;
  }
  return next;
}

/** @param {string[]} one @param {string[]} other */
function isSame(one, other) {
  return one.length === other.length && one.every((path) => other.includes(path));
}

/** @param {string} holder @param {any} event @returns {Wait} */
function waitOf(holder, event) {
  return {
    holder,
    user: event.user,
    userName: event.user_name ?? event.user,
    agentId: event.agent_id ?? null,
    mode: event.status === 'READING' ? 'READING' : 'WRITING',
    paths: event.files ?? [],
    blockers: event.conflicts ?? [],
    message: event.message ?? '',
    since: timeOf(event),
    reservedUntil: null,
  };
}

/** @param {Wait[]} waits @param {string} holder @param {any} event A `lock_reserved`. */
function reserved(waits, holder, event) {
  const until = event.expiry_ms ?? event.expiry * 1000;
  const isIts = (/** @type {Wait} */ wait) => wait.holder === holder && isSame(wait.paths, event.files ?? []);
  return waits.some(isIts) ? waits.map((wait) => (isIts(wait) ? { ...wait, reservedUntil: until } : wait)) : waits;
}

/**
 * @param {Wait[]} waits
 * @param {Map<string, import('./types.js').Lock[]>} locks
 * @returns {{ wait: Wait, byHolder: Map<string, string[]> }[]} With the files of each holder that a claim waits for.
 */
export function blockedBy(waits, locks) {
  return waits.map((wait) => {
    /** @type {Map<string, string[]>} */
    const byHolder = new Map();
    for (const path of wait.blockers) {
      for (const { holder } of locks.get(path) ?? []) if (holder !== wait.holder) byHolder.set(holder, [...(byHolder.get(holder) ?? []), path]);
    }
    return { wait, byHolder };
  });
}
