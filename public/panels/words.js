// Sentences and numbers that several panels share.

import { counted } from '../app/words.js';

/** The meaning of each orchestration command, for an agent. */
export const COMMAND_MEANINGS = new Map([
  ['PROCEED', 'Go on with the work.'],
  ['WAIT', 'Wait, then claim again.'],
  ['SWITCH_TASK', 'Work on something else.'],
  ['PULL', 'Pull the branch, then claim again.'],
  ['PUSH', 'Push the commits, then release again.'],
  ['STOP', 'Stop, and report.'],
]);

/**
 * The time left for a screen reader. It is in whole minutes, because a screen reader announces each change.
 * @param {number} ms
 */
export function spokenTimeLeft(ms) {
  if (ms <= 0) return 'expired';
  if (ms < 60_000) return 'expires in less than a minute';
  return `expires in ${counted(Math.round(ms / 60_000), 'minute')}`;
}

/** @param {string} path @returns {[string, string]} Its folder, with the last slash, and its name. */
export function splitPath(path) {
  const nameStart = path.lastIndexOf('/') + 1;
  return [path.slice(0, nameStart), path.slice(nameStart)];
}

/**
 * A locked file for a screen reader.
 * @param {string} path
 * @param {import('../app/types.js').Lock[]} locks
 * @param {number} now
 * @param {(holder: string) => string} [nameOf]
 */
export function lockSentence(path, locks, now, nameOf = (holder) => holder) {
  if (locks.length === 0) return `${path}, not locked`;
  const [lock] = locks;
  const left = spokenTimeLeft(Math.min(...locks.map(({ expiry }) => expiry)) - now);
  if (locks.length === 1) return `${path}, ${lock.mode} by ${nameOf(lock.holder)}, for ${lock.message}, ${left}`;
  return `${path}, ${lock.mode} by ${locks.map(({ holder }) => nameOf(holder)).join(', ')}, the first ${left}`;
}

/**
 * @param {{ renewedAt: number, expiry: number }} lock
 * @param {number} now
 * @returns {number} The share of its time that the lock has left, 0 to 1.
 */
export function shareLeft({ renewedAt, expiry }, now) {
  const lifetime = expiry - renewedAt;
  return lifetime > 0 ? Math.min(1, Math.max(0, (expiry - now) / lifetime)) : 0;
}
