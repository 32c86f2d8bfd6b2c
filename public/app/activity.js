// Events as the page shows them.

import { holderKey } from './holder.js';
import { changeWords, refusalWords } from './intent_words.js';
import { timeOf } from './locks.js';
import { readTeamEvent } from './team_words.js';

/** @typedef {import('./types.js').Activity} Activity */

/** Most entries that are kept. */
export const MOST_ACTIVITY = 1000;
/** Most files that a sentence names. */
const MOST_NAMED = 3;

/** @type {Record<string, string>} Of the reasons of a refusal. */
const REASONS = {
  STALE: 'the working copy is behind',
  CONFLICT: 'locked by another agent',
  FULL: 'the repository has too many locks',
  NOT_PUSHED: 'the change is not pushed',
  LOST: 'another agent holds the lock now',
};

/**
 * @param {string[]} paths
 * @param {number} count
 * @returns {string} Such as `a, b, c and 697 more`.
 */
function files(paths, count) {
  const named = paths.slice(0, MOST_NAMED);
  const more = Math.max(0, count - named.length);
  if (named.length === 0) return more === 1 ? '1 file' : `${more} files`;
  return more ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

/**
 * @param {any} event
 * @returns {string | null} What it says beside its files and its message.
 */
function detailOf(event) {
  switch (event.type) {
    case 'lock_refused': {
      /** @type {string[]} */
      const conflicts = event.conflicts ?? [];
      const isSame = conflicts.join('\n') === (event.files ?? []).join('\n');
      const count = event.conflict_count ?? conflicts.length;
      const reason = event.reason === 'INTENT' ? refusalWords(event.code) : REASONS[event.reason] ?? String(event.reason).toLowerCase();
      const why = event.reason === 'CONFLICT' && !isSame && count > 0 ? `${files(conflicts, count)} ${count > 1 ? 'are' : 'is'} locked by another agent` : reason;
      return event.repeated ? `${why}, asked ${event.repeated === 1 ? 'once' : `${event.repeated} times`} more` : why;
    }
    case 'head_moved':
      return `the head is ${event.head.slice(0, 7)}`;
    case 'graph_update':
      return `the import graph is that of ${event.version.slice(0, 7)}`;
    case 'lock_granted':
    case 'lock_renewed':
      return event.status === 'READING' ? 'for reading' : 'for writing';
    case 'lock_released':
      if (event.forced_by) return `released by force by ${event.forced_by}`;
      return event.is_pushed ? 'pushed' : null;
    case 'interface_changed':
      return `broke its promise to keep the interface${event.names ? `: ${event.names.join(', ')}` : ''}`;
    case 'intent_changed':
      return changeWords(event);
    case 'intent_overlap_allowed':
      return `with ${event.other}`;
    default:
      return null;
  }
}

/**
 * @param {any} event As the server sends it.
 * @param {boolean} [isCaughtUp]
 * @returns {Activity}
 */
export function readActivity(event, isCaughtUp = false) {
  const ofTeam = readTeamEvent(event);
  return {
    id: event.id ?? null,
    kind: event.type,
    at: timeOf(event),
    holder: ofTeam ? ofTeam.handle : event.user === undefined ? null : holderKey(event.user, event.agent_id),
    userName: ofTeam ? ofTeam.handle : event.user_name ?? event.user ?? null,
    agentId: ofTeam ? null : event.agent_id ?? null,
    branch: event.branch ?? null,
    paths: event.files ?? [],
    fileCount: event.file_count ?? 0,
    message: event.title ?? event.message ?? (event.type === 'intent_changed' ? event.reason : null) ?? null,
    command: event.action ?? null,
    detail: ofTeam ? ofTeam.deed : detailOf(event),
    reason: event.type === 'lock_refused' ? event.reason ?? null : null,
    conflicts: event.conflicts ?? [],
    isForced: Boolean(event.forced_by),
    isPushed: event.is_pushed ?? null,
    isFirst: event.type === 'head_moved' && !event.previous,
    intentId: event.intent_id ?? null,
    isOfTeam: ofTeam !== null,
    task: event.task ?? null,
    team: event.team ?? null,
    isCaughtUp,
  };
}

/**
 * @param {string} one
 * @param {string} other
 * @returns {number} Negative if `one` is older: ids are `MILLISECONDS-SEQUENCE`.
 */
export function compareIds(one, other) {
  const [ms, sequence] = one.split('-').map(Number);
  const [otherMs, otherSequence] = other.split('-').map(Number);
  return ms - otherMs || sequence - otherSequence;
}

/**
 * @param {Activity} one
 * @param {Activity} other
 * @returns {number} For the newest first.
 */
function newestFirst(one, other) {
  return one.id !== null && other.id !== null ? compareIds(other.id, one.id) : other.at - one.at;
}

/**
 * @param {Activity[]} list The newest first.
 * @param {Activity[]} added In any order; what the list has already is left out.
 * @returns {Activity[]} The newest first, of bounded length; the same object if nothing is added.
 */
export function mergeActivity(list, added) {
  const known = new Set(list.map((entry) => entry.id));
  const fresh = added.filter((entry) => {
    if (entry.id === null) return true;
    if (known.has(entry.id)) return false;
    known.add(entry.id);
    return true;
  });
  if (fresh.length === 0) return list;
  fresh.sort(newestFirst);
  const isAppended = list.length === 0 || newestFirst(fresh[fresh.length - 1], list[0]) <= 0;
  const merged = isAppended ? [...fresh, ...list] : [...fresh, ...list].sort(newestFirst);
  return merged.slice(0, MOST_ACTIVITY);
}
