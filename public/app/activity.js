// Events as the page shows them.

import { holderKey } from './holder.js';
import { changeVerb, refusalLabel } from './intent_labels.js';
import { timeOf } from './locks.js';
import { readTeamEvent } from './team_labels.js';

/** @typedef {import('./types.js').Activity} Activity */

/** Maximum number of entries that the page keeps. */
export const MAX_ACTIVITY = 1000;
/** Maximum number of files that a sentence names. */
const MAX_NAMED = 3;

/** Sentences for the reasons of a refusal. @type {Record<string, string>} */
const REASONS = {
  STALE: 'the working copy is behind',
  CONFLICT: 'locked by another agent',
  FULL: 'the repository has too many locks',
  NOT_PUSHED: 'the change is not pushed',
  LOST: 'another agent holds the lock now',
};

/** @param {string[]} paths @param {number} count @returns {string} Such as `a, b, c and 697 more`. */
function formatFiles(paths, count) {
  const first = paths.slice(0, MAX_NAMED);
  const more = Math.max(0, count - first.length);
  if (first.length === 0) return more === 1 ? '1 file' : `${more} files`;
  return more ? `${first.join(', ')} and ${more} more` : first.join(', ');
}

/**
 * @param {any} event A `lock_refused`.
 * @returns {string}
 */
function refusalDetail(event) {
  /** @type {string[]} */
  const conflicts = event.conflicts ?? [];
  const count = event.conflict_count ?? conflicts.length;
  const isSame = conflicts.join('\n') === (event.files ?? []).join('\n');
  let detail = REASONS[event.reason] ?? String(event.reason).toLowerCase();
  if (event.reason === 'INTENT') detail = refusalLabel(event.code);
  if (event.reason === 'CONFLICT' && !isSame && count > 0) {
    detail = `${formatFiles(conflicts, count)} ${count > 1 ? 'are' : 'is'} locked by another agent`;
  }
  return event.repeated ? `${detail}, repeated ${event.repeated === 1 ? 'once' : `${event.repeated} times`}` : detail;
}

/** @param {any} event @returns {string | null} Its content beside its files and its message. */
function detailOf(event) {
  switch (event.type) {
    case 'lock_refused':
      return refusalDetail(event);
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
      return changeVerb(event);
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
  const teamEvent = readTeamEvent(event);
  const holder = event.user === undefined ? null : holderKey(event.user, event.agent_id);
  return {
    id: event.id ?? null,
    kind: event.type,
    at: timeOf(event),
    holder: teamEvent ? teamEvent.handle : holder,
    userName: teamEvent ? teamEvent.handle : event.user_name ?? event.user ?? null,
    agentId: teamEvent ? null : event.agent_id ?? null,
    branch: event.branch ?? null,
    paths: event.files ?? [],
    fileCount: event.file_count ?? 0,
    message: event.title ?? event.message ?? (event.type === 'intent_changed' ? event.reason : null) ?? null,
    command: event.action ?? null,
    detail: teamEvent ? teamEvent.description : detailOf(event),
    reason: event.type === 'lock_refused' ? event.reason ?? null : null,
    conflicts: event.conflicts ?? [],
    isForced: Boolean(event.forced_by),
    isPushed: event.is_pushed ?? null,
    isFirst: event.type === 'head_moved' && !event.previous,
    intentId: event.intent_id ?? null,
    isOfTeam: teamEvent !== null,
    task: event.task ?? null,
    team: event.team ?? null,
    isCaughtUp,
  };
}

/** @param {string} a @param {string} b @returns {number} Negative if `a` is older: ids are `MILLISECONDS-SEQUENCE`. */
export function compareIds(a, b) {
  const [ms, sequence] = a.split('-').map(Number);
  const [otherMs, otherSequence] = b.split('-').map(Number);
  return ms - otherMs || sequence - otherSequence;
}

/** @param {Activity} a @param {Activity} b @returns {number} Sorts the newest first. */
function newestFirst(a, b) {
  return a.id !== null && b.id !== null ? compareIds(b.id, a.id) : b.at - a.at;
}

/**
 * @param {Activity[]} list The newest first.
 * @param {Activity[]} added In any order. Entries that are in the list already are left out.
 * @returns {Activity[]} The newest first, of bounded length; the same object if nothing is added.
 */
export function mergeActivity(list, added) {
  const ids = new Set(list.map((entry) => entry.id));
  const newEntries = added.filter((entry) => {
    if (entry.id === null) return true;
    if (ids.has(entry.id)) return false;
    ids.add(entry.id);
    return true;
  });
  if (newEntries.length === 0) return list;
  newEntries.sort(newestFirst);
  const merged = [...newEntries, ...list];
  const isSorted = list.length === 0 || newestFirst(newEntries[newEntries.length - 1], list[0]) <= 0;
  if (!isSorted) merged.sort(newestFirst);
  return merged.slice(0, MAX_ACTIVITY);
}
