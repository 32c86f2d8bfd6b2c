// The address bar: what the page shows can be linked to, and back and forward work.

/** @typedef {import('./types.js').Place} Place */

/**
 * @param {string} search `location.search`.
 * @returns {Place}
 */
export function readPlace(search) {
  const query = new URLSearchParams(search);
  const text = (/** @type {string} */ name) => query.get(name)?.trim() || null;
  const repoUrl = text('repo_url');
  return {
    repoUrl,
    branch: repoUrl === null ? null : text('branch') ?? 'main',
    file: text('file'),
    intent: text('intent'),
    view: query.get('view') === 'table' ? 'table' : 'map',
    filter: query.get('filter') ?? '',
  };
}

/**
 * @param {Place} place
 * @returns {string} What `readPlace` reads back, from `?` on.
 */
export function searchOf(place) {
  const query = new URLSearchParams();
  if (place.repoUrl) query.set('repo_url', place.repoUrl);
  if (place.repoUrl && place.branch) query.set('branch', place.branch);
  if (place.file) query.set('file', place.file);
  if (place.intent) query.set('intent', place.intent);
  if (place.view === 'table') query.set('view', 'table');
  if (place.filter) query.set('filter', place.filter);
  // Slashes and colons are allowed in a query, and a link is read by people.
  const search = query.toString().replaceAll('%2F', '/').replaceAll('%3A', ':');
  return search && `?${search}`;
}

/**
 * @param {Place} place
 * @param {Partial<Place>} change Another repository or branch leaves the file, the intent and the filter behind.
 * @returns {Place}
 */
export function changedPlace(place, change) {
  const next = { ...place, ...change };
  if (next.repoUrl && !next.branch) next.branch = 'main';
  const isElsewhere = next.repoUrl !== place.repoUrl || next.branch !== place.branch;
  return isElsewhere ? { ...next, file: change.file ?? null, intent: change.intent ?? null, filter: change.filter ?? '' } : next;
}

/**
 * @param {string} repoUrl
 * @returns {string} Without its scheme and `.git`, for people.
 */
export function shortRepository(repoUrl) {
  return repoUrl.replace(/^[a-z+]+:\/\//i, '').replace(/\.git$/, '').replace(/\/$/, '');
}
