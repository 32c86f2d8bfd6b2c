// Sentences and numbers that several panels show.

import { counted } from '../app/words.js';

/** @typedef {import('../app/types.js').Lock} Lock */

/** What each orchestration command tells an agent to do. */
export const COMMAND_MEANINGS = new Map([
  ['PROCEED', 'Go on with the work.'],
  ['WAIT', 'Wait, then claim again.'],
  ['SWITCH_TASK', 'Work on something else.'],
  ['PULL', 'Pull the branch, then claim again.'],
  ['PUSH', 'Push the commits, then release again.'],
  ['STOP', 'Stop, and report.'],
]);

/** A remaining time for a screen reader, in whole minutes: a name that changes each second would be read each second. @param {number} ms */
export function spokenTimeLeft(ms) {
  if (ms <= 0) return 'expired';
  if (ms < 60_000) return 'expires in less than a minute';
  return `expires in ${counted(Math.round(ms / 60_000), 'minute')}`;
}

/** Cuts a path into its folder, with the slash, and its name. @param {string} path @returns {[string, string]} */
export function splitPath(path) {
  const cut = path.lastIndexOf('/') + 1;
  return [path.slice(0, cut), path.slice(cut)];
}

/**
 * The name of a locked file for a screen reader.
 * @param {string} path
 * @param {Lock[]} locks
 * @param {number} now
 * @param {(holder: string) => string} [named]
 */
export function lockSentence(path, locks, now, named = (holder) => holder) {
  if (locks.length === 0) return `${path}, not locked`;
  const [lock] = locks;
  const left = spokenTimeLeft(Math.min(...locks.map(({ expiry }) => expiry)) - now);
  if (locks.length > 1) return `${path}, ${lock.mode} by ${locks.map(({ holder }) => named(holder)).join(', ')}, the first ${left}`;
  return `${path}, ${lock.mode} by ${named(lock.holder)}, for ${lock.message}, ${left}`;
}

/** How much of its time a lock has left, 0 to 1. @param {{ renewedAt: number, expiry: number }} lock @param {number} now */
export function shareLeft({ renewedAt, expiry }, now) {
  const whole = expiry - renewedAt;
  return whole > 0 ? Math.min(1, Math.max(0, (expiry - now) / whole)) : 0;
}
