// What the feed of activity shows: which entries, grouped how. No elements.

import { counted } from '../app/words.js';

/** @typedef {import('../app/types.js').Activity} Activity */

/** Kinds of events, by what a reader looks for. */
export const KINDS = new Map([
  ['claims', { label: 'Claims', kinds: ['lock_granted'] }],
  ['renewals', { label: 'Renewals', kinds: ['lock_renewed'] }],
  ['refusals', { label: 'Refusals', kinds: ['lock_refused'] }],
  ['releases', { label: 'Releases', kinds: ['lock_released', 'lock_reserved', 'interface_changed'] }],
  ['expiries', { label: 'Expiries', kinds: ['lock_expired'] }],
  ['intents', { label: 'Intents', kinds: ['intent_changed', 'intent_overlap_allowed', 'file_taken_over', 'ledger_trimmed'] }],
  ['teams', { label: 'Teams', kinds: ['task_created', 'task_updated', 'task_claimed', 'task_completed', 'task_released', 'task_lapsed', 'task_deleted', 'task_unblocked', 'message_sent', 'team_changed', 'shutdown_changed'] }],
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
 * A row of the feed: an entry, with how often it was repeated, or the line over what happened while the page was offline.
 * @typedef {{ type: 'entry', key: string, entry: Activity, count: number, firstAt: number } | { type: 'divider', key: string, count: number }} FeedRow
 */

/** @param {Activity} entry @returns {string} */
export function keyOfEntry({ id, at, kind, holder, paths }) {
  return id ?? `${at} ${kind} ${holder} ${paths[0]}`;
}

/** @param {Activity} entry @param {FeedFilter} filter */
export function isShown(entry, { holder, folder, kind }) {
  if (holder && entry.holder !== holder) return false;
  if (folder && !entry.paths.some((path) => path.startsWith(folder))) return false;
  return !kind || (KINDS.get(kind)?.kinds.includes(entry.kind) ?? true);
}

/**
 * @param {Activity[]} activity The newest first.
 * @param {string} kind What is asked for.
 * @returns {Activity[]} Without the renewals that say nothing new, unless they are asked for.
 */
export function withoutRenewals(activity, kind) {
  if (kind === 'renewals') return activity;
  /** @type {Map<string, string | null>} The last message about the files. */
  const said = new Map();
  return activity.toReversed().filter((entry) => {
    if (entry.kind !== 'lock_granted' && entry.kind !== 'lock_renewed') return true;
    const about = `${entry.holder} ${entry.paths.join(' ')}`;
    const isNew = said.has(about) && said.get(about) !== entry.message;
    said.set(about, entry.message);
    return entry.kind === 'lock_granted' || isNew;
  }).reverse();
}

/**
 * The rows of the feed. A refusal, renewal or progress joins the newer one of the same holder about the same, if that holder did nothing
 * else between.
 * @param {Activity[]} activity The newest first.
 * @param {FeedFilter} filter
 * @returns {FeedRow[]}
 */
export function feedRows(activity, filter) {
  /** @type {FeedRow[]} */
  const rows = [];
  /** @type {Map<string | null, { about: string, row: FeedRow & { type: 'entry' } }>} */
  const newest = new Map();
  /** @type {(FeedRow & { type: 'divider' }) | null} */
  let divider = null;
  for (const entry of withoutRenewals(activity, filter.kind)) {
    if (!isShown(entry, filter)) continue;
    if (!entry.isCaughtUp) divider = null;
    const about = JSON.stringify([entry.kind, entry.branch, entry.paths, entry.message, entry.isCaughtUp]);
    const last = newest.get(entry.holder);
    if (last?.about === about && REPEATED.has(entry.kind)) {
      last.row.count += 1;
      last.row.firstAt = entry.at;
      continue;
    }
    const key = keyOfEntry(entry);
    if (entry.isCaughtUp) {
      if (!divider) rows.push((divider = { type: 'divider', key: `before ${key}`, count: 0 }));
      divider.count += 1;
    }
    const row = /** @type {FeedRow & { type: 'entry' }} */ ({ type: 'entry', key, entry, count: 1, firstAt: entry.at });
    rows.push(row);
    newest.set(entry.holder, { about, row });
  }
  return rows;
}

/** Number of entries that are newer than the one with this key; 0 if it is not there any more. @param {Activity[]} activity @param {string} key */
export function newerThan(activity, key) {
  return Math.max(0, activity.findIndex((entry) => keyOfEntry(entry) === key));
}

/** Folders of the files that the entries name, sorted, with their last slash. @param {Activity[]} activity @param {number} most */
export function foldersOf(activity, most) {
  /** @type {Set<string>} */
  const folders = new Set();
  for (const { paths } of activity) {
    for (const path of paths) {
      for (let slash = path.indexOf('/'); slash >= 0 && folders.size < most; slash = path.indexOf('/', slash + 1)) folders.add(path.slice(0, slash + 1));
    }
  }
  return [...folders].sort();
}

/**
 * What happened, without the names of the files.
 * @param {Activity} entry
 * @param {boolean} [isOfOneFile] Whether it is told in the history of a file.
 * @returns {string}
 */
export function deedOf({ kind, holder, fileCount, branch, detail, isOfTeam }, isOfOneFile = false) {
  if (isOfTeam) return detail ?? '';
  const files = !isOfOneFile ? counted(fileCount, 'file') : fileCount > 1 ? `it and ${fileCount - 1} more` : 'it';
  const mode = detail ? ` ${detail}` : '';
  switch (kind) {
    case 'lock_granted': return `claims ${files}${mode}`;
    case 'lock_renewed': return `renews ${files}${mode}`;
    case 'lock_released': return holder ? (detail ? `loses ${files}: ${detail}` : `releases ${files}`) : `Locks on ${files} were released`;
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
