// The rows of the feed of activity: filtered and grouped. No elements.

import { formatCount } from '../app/formatting.js';

/** @typedef {import('../app/types.js').Activity} Activity */

/** Groups of kinds of events, as the filter offers them. */
export const KINDS = new Map([
  ['claims', { label: 'Claims', kinds: ['lock_granted'] }],
  ['renewals', { label: 'Renewals', kinds: ['lock_renewed'] }],
  ['refusals', { label: 'Refusals', kinds: ['lock_refused'] }],
  ['releases', { label: 'Releases', kinds: ['lock_released', 'lock_reserved', 'interface_changed'] }],
  ['expiries', { label: 'Expiries', kinds: ['lock_expired'] }],
  ['intents', {
    label: 'Intents', kinds: ['intent_changed', 'intent_overlap_allowed', 'file_taken_over', 'ledger_trimmed'],
  }],
  ['teams', {
    label: 'Teams',
    kinds: [
      'task_created', 'task_updated', 'task_claimed', 'task_completed', 'task_released', 'task_lapsed', 'task_deleted',
      'task_unblocked', 'message_sent', 'team_changed', 'shutdown_changed',
    ],
  }],
  ['graph', { label: 'Branch and graph', kinds: ['head_moved', 'graph_update', 'graph_progress'] }],
]);

/** Kinds whose repetition says nothing new. */
const REPEATED = new Set(['lock_refused', 'lock_renewed', 'graph_progress']);

/**
 * @typedef {object} FeedFilter
 * @property {string} holder Empty for all.
 * @property {string} folder With its last slash; empty for all.
 * @property {string} kind A key of `KINDS`; empty for all.
 */

/**
 * A row of the feed: an entry with the number of its repetitions, or the line above the events that happened while the
 * page was offline.
 * @typedef {{ type: 'entry', key: string, entry: Activity, count: number, firstAt: number }} EntryRow
 * @typedef {{ type: 'divider', key: string, count: number }} DividerRow
 * @typedef {EntryRow | DividerRow} FeedRow
 */

/** @param {Activity} entry @returns {string} */
export function keyOfEntry({ id, at, kind, holder, paths }) {
  return id ?? `${at} ${kind} ${holder} ${paths[0]}`;
}

/** @param {Activity} entry @param {FeedFilter} filter */
export function matchesFilter(entry, { holder, folder, kind }) {
  if (holder && entry.holder !== holder) return false;
  if (folder && !entry.paths.some((path) => path.startsWith(folder))) return false;
  return !kind || (KINDS.get(kind)?.kinds.includes(entry.kind) ?? true);
}

/**
 * @param {Activity[]} activity The newest first.
 * @param {string} kind Of the filter.
 * @returns {Activity[]} Without renewals that say nothing new, unless the filter selects renewals.
 */
export function omitRenewals(activity, kind) {
  if (kind === 'renewals') return activity;
  /** The last message, by holder and files. @type {Map<string, string | null>} */
  const messages = new Map();
  return activity.toReversed().filter((entry) => {
    if (entry.kind !== 'lock_granted' && entry.kind !== 'lock_renewed') return true;
    const key = `${entry.holder} ${entry.paths.join(' ')}`;
    const isNew = messages.has(key) && messages.get(key) !== entry.message;
    messages.set(key, entry.message);
    return entry.kind === 'lock_granted' || isNew;
  }).reverse();
}

/**
 * The rows of the feed. A refusal, renewal or progress joins the next newer row of its holder if it is the same.
 * @param {Activity[]} activity The newest first.
 * @param {FeedFilter} filter
 * @returns {FeedRow[]}
 */
export function feedRows(activity, filter) {
  /** @type {FeedRow[]} */
  const rows = [];
  /** The last row of each holder. @type {Map<string | null, { content: string, row: EntryRow }>} */
  const lastRows = new Map();
  /** @type {DividerRow | null} */
  let divider = null;
  for (const entry of omitRenewals(activity, filter.kind)) {
    if (!matchesFilter(entry, filter)) continue;
    if (!entry.isCaughtUp) divider = null;
    const content = JSON.stringify([entry.kind, entry.branch, entry.paths, entry.message, entry.isCaughtUp]);
    const last = lastRows.get(entry.holder);
    if (last?.content === content && REPEATED.has(entry.kind)) {
      last.row.count += 1;
      last.row.firstAt = entry.at;
      continue;
    }
    const key = keyOfEntry(entry);
    if (entry.isCaughtUp) {
      if (!divider) rows.push((divider = { type: 'divider', key: `before ${key}`, count: 0 }));
      divider.count += 1;
    }
    /** @type {EntryRow} */
    const row = { type: 'entry', key, entry, count: 1, firstAt: entry.at };
    rows.push(row);
    lastRows.set(entry.holder, { content, row });
  }
  return rows;
}

/**
 * @param {Activity[]} activity
 * @param {string} key
 * @returns {number} Number of entries that are newer than the one with this key; 0 if that is no longer there.
 */
export function countNewer(activity, key) {
  return Math.max(0, activity.findIndex((entry) => keyOfEntry(entry) === key));
}

/**
 * @param {Activity[]} activity
 * @param {number} maxCount
 * @returns {string[]} Folders of the files that the entries name, sorted, with a trailing slash.
 */
export function foldersOf(activity, maxCount) {
  /** @type {Set<string>} */
  const folders = new Set();
  for (const path of activity.flatMap(({ paths }) => paths)) {
    for (let slash = path.indexOf('/'); slash >= 0 && folders.size < maxCount; slash = path.indexOf('/', slash + 1)) {
      folders.add(path.slice(0, slash + 1));
    }
  }
  return [...folders].sort();
}

/**
 * The event in words, without the names of the files.
 * @param {Activity} entry
 * @param {boolean} [isOfOneFile] Whether it is part of the history of a file.
 * @returns {string}
 */
export function describeEvent({ kind, holder, fileCount, branch, detail, isOfTeam }, isOfOneFile = false) {
  if (isOfTeam) return detail ?? '';
  const files = !isOfOneFile ? formatCount(fileCount, 'file') : fileCount > 1 ? `it and ${fileCount - 1} more` : 'it';
  const mode = detail ? ` ${detail}` : '';
  switch (kind) {
    case 'lock_granted': return `claims ${files}${mode}`;
    case 'lock_renewed': return `renews ${files}${mode}`;
    case 'lock_released':
      if (!holder) return `Locks on ${files} were released`;
      return detail ? `loses ${files}: ${detail}` : `releases ${files}`;
    case 'lock_expired': return holder ? `loses ${files}: expired` : `Locks on ${files} expired`;
    case 'lock_refused': return `is refused ${files}`;
    case 'lock_reserved': return `has ${files} reserved`;
    case 'intent_changed': return `${detail} the intent`;
    case 'intent_overlap_allowed': return 'allows the intent to overlap';
    case 'file_taken_over': return `takes over ${files} for the intent`;
    case 'ledger_trimmed': return 'The oldest ledger entries were dropped';
    case 'head_moved': return `${branch ?? 'The branch'} moved`;
    case 'graph_update': return 'The import graph was rebuilt';
    case 'graph_progress': return 'The import graph is being built';
    default: return detail ? kind.replaceAll('_', ' ') : `Event: ${kind.replaceAll('_', ' ')}`;
  }
}
