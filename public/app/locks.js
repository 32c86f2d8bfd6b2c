// The locks of one branch, from lists of locks and from events. Functions change no argument.

import { readHolder } from './holder.js';

/** @typedef {import('./types.js').Lock} Lock */
/** @typedef {Map<string, Lock[]>} Locks By path: one WRITING lock, or READING locks in the order of their grants. */

/**
 * An event as the server sends it; the fields depend on `type`.
 * @typedef {object} LockEvent
 * @property {string} type
 * @property {string} [id]
 * @property {string} [branch]
 * @property {string} [user]
 * @property {string} [user_name]
 * @property {string} [agent_id]
 * @property {string} [status]
 * @property {string} [message]
 * @property {string} [intent_id]
 * @property {string[]} [files]
 * @property {number} [file_count]
 * @property {number} [expiry]
 * @property {number} [expiry_ms]
 * @property {number} [time]
 * @property {number} [time_ms]
 */

const CHANGES = new Set(['lock_granted', 'lock_renewed', 'lock_released', 'lock_expired']);

/** @param {{ time?: number, time_ms?: number }} event @returns {number} Milliseconds since 1970. */
export function timeOf(event) {
  return event.time_ms ?? (event.time ?? 0) * 1000;
}

/**
 * @param {any} body Of `GET /api/locks`.
 * @param {string} branch
 * @returns {Locks}
 */
export function readLocks(body, branch) {
  /** @type {Locks} */
  const locks = new Map();
  for (const view of body.locks) {
    if (view.branch !== branch) continue;
    const lock = {
      path: view.file_path,
      ...readHolder(view),
      mode: view.status,
      message: view.message,
      since: (view.since ?? view.timestamp) * 1000,
      renewedAt: view.timestamp * 1000,
      expiry: view.expiry * 1000,
      intentId: view.intent_id ?? null,
      keepsInterface: view.interface === 'keeps',
    };
    locks.set(lock.path, [...(locks.get(lock.path) ?? []), lock]);
  }
  return locks;
}

/**
 * Merges what the page knows into a list. The times of a list are in whole seconds; those of events are exact. Fields
 * that events do not have come from the list.
 * @param {Locks} before
 * @param {Locks} listed
 * @returns {Locks}
 */
export function mergeListedLocks(before, listed) {
  const merge = (/** @type {Lock} */ lock) => {
    const old = before.get(lock.path)?.find((other) => other.holder === lock.holder);
    if (!old) return lock;
    const isSame = old.mode === lock.mode
      && Math.floor(old.renewedAt / 1000) * 1000 === lock.renewedAt
      && Math.ceil(old.expiry / 1000) * 1000 === lock.expiry;
    if (!isSame) return { ...lock, since: Math.min(old.since, lock.since) };
    return old.keepsInterface === lock.keepsInterface ? old : { ...old, keepsInterface: lock.keepsInterface };
  };
  return new Map([...listed].map(([path, locks]) => [path, locks.map(merge)]));
}

/**
 * @param {LockEvent} event
 * @returns {boolean} Whether it changes locks that it does not name, so that the page has to read them again.
 */
export function isPartial(event) {
  if (!CHANGES.has(event.type)) return false;
  return event.user === undefined || (event.file_count ?? 0) > (event.files?.length ?? 0);
}

/**
 * @param {Locks} locks
 * @param {LockEvent[]} events In their order.
 * @returns {Locks} The same object if nothing changes.
 */
export function applyToLocks(locks, events) {
  let next = locks;
  for (const event of events) {
    if (!CHANGES.has(event.type) || event.user === undefined) continue;
    for (const path of event.files ?? []) {
      const before = next.get(path) ?? [];
      const after = applyEvent(before, path, event);
      if (after === before) continue;
      if (next === locks) next = new Map(locks);
      if (after.length > 0) next.set(path, after);
      else next.delete(path);
    }
  }
  return next;
}

/**
 * @param {Lock[]} before The locks of one file.
 * @param {string} path
 * @param {LockEvent} event
 * @returns {Lock[]}
 */
function applyEvent(before, path, event) {
  const identity = readHolder(event);
  const own = before.find((lock) => lock.holder === identity.holder);
  const time = timeOf(event);
  // The event may be older than the list from which a lock comes.
  const newest = own ?? before.find((lock) => lock.mode === 'WRITING');
  if (newest && time < newest.renewedAt) return before;
  if (event.type === 'lock_released' || event.type === 'lock_expired') {
    return own ? before.filter((lock) => lock !== own) : before;
  }

  const mode = event.status === 'READING' ? 'READING' : 'WRITING';
  /** @type {Lock} */
  const lock = {
    path,
    ...identity,
    mode,
    message: event.message ?? '',
    since: own ? own.since : time,
    renewedAt: time,
    expiry: event.expiry_ms ?? (event.expiry ?? 0) * 1000,
    intentId: event.intent_id ?? null,
    keepsInterface: own?.keepsInterface ?? false,
  };
  if (mode === 'WRITING') return [lock];
  const readers = before.filter((other) => other.mode === 'READING');
  if (own?.mode !== 'READING') return [...readers, lock];
  return readers.map((other) => (other === own ? lock : other));
}

/**
 * @param {Locks} locks
 * @param {number} now
 * @returns {Locks} Those that have not expired; the same object if none has.
 */
export function dropExpired(locks, now) {
  const isValid = (/** @type {Lock} */ lock) => lock.expiry > now;
  if ([...locks.values()].every((pathLocks) => pathLocks.every(isValid))) return locks;
  const valid = [...locks].map(([path, pathLocks]) => /** @type {const} */ ([path, pathLocks.filter(isValid)]));
  return new Map(valid.filter(([, pathLocks]) => pathLocks.length > 0));
}

/** @param {Locks} locks @returns {number | null} When the first of them expires. */
export function firstExpiry(locks) {
  let first = Infinity;
  for (const pathLocks of locks.values()) for (const lock of pathLocks) first = Math.min(first, lock.expiry);
  return first === Infinity ? null : first;
}
