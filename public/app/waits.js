// Claims in the queue of a branch, from a list of locks and from events. Functions change no argument.

import { holderKey, readHolder } from './holder.js';
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
 * @property {string[]} blockers The files whose locks block it: files that it claims, or their neighbors.
 * @property {string} message
 * @property {number} since When it was first refused: milliseconds since 1970.
 * @property {number | null} reservedUntil How long its files are reserved for it; `null` before that.
 */

/**
 * @param {any} body Of `GET /api/locks`.
 * @param {string} branch
 * @returns {Wait[]} The oldest first.
 */
export function readWaits(body, branch) {
  const ofBranch = (body.waiting ?? []).filter((/** @type {any} */ claim) => claim.branch === branch);
  return ofBranch.map((/** @type {any} */ claim) => ({
    ...readHolder(claim),
    mode: claim.status,
    paths: claim.file_paths,
    blockers: [...new Set((claim.waits_for ?? []).map((/** @type {any} */ lock) => lock.file_path))],
    message: claim.message,
    since: claim.since * 1000,
    reservedUntil: claim.reserved_until ? claim.reserved_until * 1000 : null,
  }));
}

/** Events that end all waits of their holder: it claimed, released or requested other files. */
const ENDING = new Set(['lock_granted', 'lock_released', 'lock_refused']);

/**
 * A refusal may start a wait, which the next list confirms. Only a list shows that a wait has ended because its holder
 * no longer repeats the claim.
 * @param {Wait[]} waits
 * @param {any[]} events In their order.
 * @returns {Wait[]} The same object if nothing changes.
 */
export function applyToWaits(waits, events) {
  let next = waits;
  for (const event of events) {
    if (event.user === undefined || event.forced_by) continue;
    const holder = holderKey(event.user, event.agent_id);
    if (event.type === 'lock_reserved') next = withReservation(next, holder, event);
    if (!ENDING.has(event.type)) continue;
    const others = next.filter((wait) => wait.holder !== holder);
    if (event.type === 'lock_refused' && event.reason === 'CONFLICT' && event.status !== 'OPEN') {
      const same = next.find((wait) => isSameClaim(wait, holder, event.files ?? []));
      const wait = same ? { ...same, blockers: event.conflicts ?? [] } : newWait(event);
      next = [...others, wait].sort((a, b) => a.since - b.since);
    } else if (others.length < next.length) next = others;
  }
  return next;
}

/** @param {Wait} wait @param {string} holder @param {string[]} paths */
function isSameClaim(wait, holder, paths) {
  const isSame = wait.paths.length === paths.length && wait.paths.every((path) => paths.includes(path));
  return wait.holder === holder && isSame;
}

/** @param {any} event @returns {Wait} */
function newWait(event) {
  return {
    ...readHolder(event),
    mode: event.status === 'READING' ? 'READING' : 'WRITING',
    paths: event.files ?? [],
    blockers: event.conflicts ?? [],
    message: event.message ?? '',
    since: timeOf(event),
    reservedUntil: null,
  };
}

/** @param {Wait[]} waits @param {string} holder @param {any} event A `lock_reserved`. */
function withReservation(waits, holder, event) {
  const reservedUntil = event.expiry_ms ?? event.expiry * 1000;
  const isReserved = (/** @type {Wait} */ wait) => isSameClaim(wait, holder, event.files ?? []);
  return waits.some(isReserved) ? waits.map((wait) => (isReserved(wait) ? { ...wait, reservedUntil } : wait)) : waits;
}

/**
 * @param {Wait[]} waits
 * @param {Map<string, import('./types.js').Lock[]>} locks
 * @returns {{ wait: Wait, byHolder: Map<string, string[]> }[]} Each wait with the files that block it, by their holder.
 */
export function findBlockers(waits, locks) {
  return waits.map((wait) => {
    /** @type {Map<string, string[]>} */
    const byHolder = new Map();
    for (const path of wait.blockers) {
      for (const { holder } of locks.get(path) ?? []) {
        if (holder !== wait.holder) byHolder.set(holder, [...(byHolder.get(holder) ?? []), path]);
      }
    }
    return { wait, byHolder };
  });
}
