// The address bar: users can link to a view of the page, and go back and forward.

/** @typedef {import('./types.js').Place} Place */

/** @type {Place['view'][]} */
const VIEWS = ['map', 'table', 'time', 'board', 'tasks'];

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
    agent: text('agent'),
    intent: text('intent'),
    team: text('team'),
    task: text('task'),
    inbox: text('inbox'),
    view: VIEWS.find((view) => view === query.get('view')) ?? 'map',
    filter: query.get('filter') ?? '',
  };
}

/** @param {Place} place @returns {string} The query, with its `?`, from which `readPlace` reads the same place. */
export function queryOf(place) {
  const query = new URLSearchParams();
  if (place.repoUrl) query.set('repo_url', place.repoUrl);
  if (place.repoUrl && place.branch) query.set('branch', place.branch);
  for (const name of /** @type {const} */ (['file', 'agent', 'intent', 'team', 'task', 'inbox'])) {
    const value = place[name];
    if (value) query.set(name, value);
  }
  if (place.view !== 'map') query.set('view', place.view);
  if (place.filter) query.set('filter', place.filter);
  // A query may contain slashes and colons, and people read links.
  const search = query.toString().replaceAll('%2F', '/').replaceAll('%3A', ':');
  return search && `?${search}`;
}

/** A place without a selection: the fields beside repository, branch and view. */
export const NO_SELECTION = {
  file: null, agent: null, intent: null, team: null, task: null, inbox: null, filter: '',
};

/**
 * @param {Place} place
 * @param {Partial<Place>} change Another repository clears the selection. Another branch clears file, agent, intent and
 *   filter; another team clears task and inbox.
 * @returns {Place}
 */
export function changePlace(place, change) {
  const next = { ...place, ...change };
  if (next.repoUrl && !next.branch) next.branch = 'main';
  if (next.repoUrl !== place.repoUrl) return { ...next, ...NO_SELECTION, ...change, branch: next.branch };
  if (next.branch !== place.branch) {
    // The selection of a team stays: teams belong to all branches.
    const { file = null, agent = null, intent = null, filter = '' } = change;
    return { ...next, file, agent, intent, filter };
  }
  if (change.team !== undefined && place.team !== null && change.team !== place.team) {
    return { ...next, task: change.task ?? null, inbox: change.inbox ?? null };
  }
  return next;
}

/** @param {Place} place @returns {boolean} Whether the page shows tasks instead of files. */
export function isBoard({ view }) {
  return view === 'board' || view === 'tasks';
}

/**
 * @param {string} repoUrl
 * @returns {string} Without its scheme and `.git`. A local repository without a remote is shown as its folder.
 */
export function shortRepository(repoUrl) {
  return repoUrl
    .replace(/^https:\/\/localhost\/local\//, '')
    .replace(/^[a-z+]+:\/\//i, '')
    .replace(/\.git$/, '')
    .replace(/\/$/, '');
}
