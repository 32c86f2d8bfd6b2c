// A locked file in a sentence for screen readers.

import { formatCount } from '../app/formatting.js';

/**
 * The time left for a screen reader. It is in whole minutes, because a screen reader announces each change.
 * @param {number} ms
 */
export function spokenTimeLeft(ms) {
  if (ms <= 0) return 'expired';
  if (ms < 60_000) return 'expires in less than a minute';
  return `expires in ${formatCount(Math.round(ms / 60_000), 'minute')}`;
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
