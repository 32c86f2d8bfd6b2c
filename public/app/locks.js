// The locks of one branch, from lists of them and from events. Nothing here changes what it is given.

import { holderKey } from './holder.js';

/** @typedef {import('./types.js').Lock} Lock */
/** @typedef {Map<string, Lock[]>} Locks By path: one WRITING lock, or READING locks in the order in which they were granted. */

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

/**
 * @param {{ time?: number, time_ms?: number }} event
 * @returns {number} Milliseconds since 1970.
 */
export function timeOf(event) {
  return event.time_ms ?? (event.time ?? 0) * 1000;
}

/**
 * @param {any} body The answer of `GET /api/locks`.
 * @param {string} branch
 * @returns {Locks}
 */
export function readLocks(body, branch) {
  /** @type {Locks} */
  const locks = new Map();
  for (const held of body.locks) {
    if (held.branch !== branch) continue;
    const lock = {
      path: held.file_path,
      holder: holderKey(held.user, held.agent_id),
      user: held.user,
      userName: held.user_name,
      agentId: held.agent_id ?? null,
      mode: held.status,
      message: held.message,
      since: (held.since ?? held.timestamp) * 1000,
      renewedAt: held.timestamp * 1000,
      expiry: held.expiry * 1000,
      intentId: held.intent_id ?? null,
      keepsInterface: held.interface === 'keeps',
    };
    locks.set(lock.path, [...(locks.get(lock.path) ?? []), lock]);
  }
  return locks;
}

/**
 * A list has whole seconds: what the page knows better stays. What an event does not say is as the list has it.
 * @param {Locks} before
 * @param {Locks} locks From a list.
 * @returns {Locks}
 */
export function withKnown(before, locks) {
  const known = (/** @type {Lock} */ lock) => {
    const old = before.get(lock.path)?.find((other) => other.holder === lock.holder);
    if (!old) return lock;
    const isSame = old.mode === lock.mode && Math.floor(old.renewedAt / 1000) * 1000 === lock.renewedAt && Math.ceil(old.expiry / 1000) * 1000 === lock.expiry;
    if (isSame) return old.keepsInterface === lock.keepsInterface ? old : { ...old, keepsInterface: lock.keepsInterface };
    return { ...lock, since: Math.min(old.since, lock.since) };
  };
  return new Map([...locks].map(([path, held]) => [path, held.map(known)]));
}

/**
 * @param {LockEvent} event
 * @returns {boolean} Whether it changes locks that it does not name, so that they have to be read again.
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
export function applyEvents(locks, events) {
  let next = locks;
  for (const event of events) {
    if (!CHANGES.has(event.type) || event.user === undefined) continue;
    for (const path of event.files ?? []) {
      const held = next.get(path) ?? [];
      const after = changed(held, path, event);
      if (after === held) continue;
      if (next === locks) next = new Map(locks);
      if (after.length > 0) next.set(path, after);
      else next.delete(path);
    }
  }
  return next;
}

/**
 * @param {Lock[]} held The locks of one file.
 * @param {string} path
 * @param {LockEvent} event
 * @returns {Lock[]}
 */
function changed(held, path, event) {
  const user = event.user ?? '';
  const holder = holderKey(user, event.agent_id);
  const own = held.find((lock) => lock.holder === holder);
  const time = timeOf(event);
  // A list of locks may be newer than an event that comes after it.
  const [newest] = own ? [own] : held.filter((lock) => lock.mode === 'WRITING');
  if (newest && time < newest.renewedAt) return held;
  if (event.type === 'lock_released' || event.type === 'lock_expired') return own ? held.filter((lock) => lock !== own) : held;

  const mode = event.status === 'READING' ? 'READING' : 'WRITING';
  /** @type {Lock} */
  const lock = {
    path,
    holder,
    user,
    userName: event.user_name ?? user,
    agentId: event.agent_id ?? null,
    mode,
    message: event.message ?? '',
    since: own ? own.since : time,
    renewedAt: time,
    expiry: event.expiry_ms ?? (event.expiry ?? 0) * 1000,
    intentId: event.intent_id ?? null,
    keepsInterface: own?.keepsInterface ?? false,
  };
  if (mode === 'WRITING') return [lock];
  const readers = held.filter((other) => other.mode === 'READING');
  return own && own.mode === 'READING' ? readers.map((other) => (other === own ? lock : other)) : [...readers, lock];
}

/**
 * @param {Locks} locks
 * @param {number} now
 * @returns {Locks} Those that have not expired; the same object if that is all of them.
 */
export function unexpired(locks, now) {
  if ([...locks.values()].every((held) => held.every((lock) => lock.expiry > now))) return locks;
  const left = [...locks].map(([path, held]) => /** @type {const} */ ([path, held.filter((lock) => lock.expiry > now)]));
  return new Map(left.filter(([, held]) => held.length > 0));
}

/**
 * @param {Locks} locks
 * @returns {number | null} When the first of them expires.
 */
export function firstExpiry(locks) {
  let first = Infinity;
  for (const held of locks.values()) for (const lock of held) first = Math.min(first, lock.expiry);
  return first === Infinity ? null : first;
}
