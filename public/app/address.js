// The address bar: what the page shows can be linked to, and back and forward work.

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

/**
 * @param {Place} place
 * @returns {string} What `readPlace` reads back, from `?` on.
 */
export function searchOf(place) {
  const query = new URLSearchParams();
  if (place.repoUrl) query.set('repo_url', place.repoUrl);
  if (place.repoUrl && place.branch) query.set('branch', place.branch);
  if (place.file) query.set('file', place.file);
  if (place.agent) query.set('agent', place.agent);
  if (place.intent) query.set('intent', place.intent);
  if (place.team) query.set('team', place.team);
  if (place.task) query.set('task', place.task);
  if (place.inbox) query.set('inbox', place.inbox);
  if (place.view !== 'map') query.set('view', place.view);
  if (place.filter) query.set('filter', place.filter);
  // Slashes and colons are allowed in a query, and a link is read by people.
  const search = query.toString().replaceAll('%2F', '/').replaceAll('%3A', ':');
  return search && `?${search}`;
}

/** What a place has beside its branch and view. */
export const NOTHING_CHOSEN = { file: null, agent: null, intent: null, team: null, task: null, inbox: null, filter: '' };

/**
 * @param {Place} place
 * @param {Partial<Place>} change Another repository leaves all that was chosen behind; another branch the file, the agent, the intent and the filter; another team its
 *   task and inbox.
 * @returns {Place}
 */
export function changedPlace(place, change) {
  const next = { ...place, ...change };
  if (next.repoUrl && !next.branch) next.branch = 'main';
  if (next.repoUrl !== place.repoUrl) return { ...next, ...NOTHING_CHOSEN, ...change, branch: next.branch };
  // Teams are those of all branches.
  if (next.branch !== place.branch) return { ...next, file: change.file ?? null, agent: change.agent ?? null, intent: change.intent ?? null, filter: change.filter ?? '' };
  if (change.team !== undefined && place.team !== null && change.team !== place.team) return { ...next, task: change.task ?? null, inbox: change.inbox ?? null };
  return next;
}

/** @param {Place} place @returns {boolean} Whether tasks are shown, and not files. */
export function isBoard({ view }) {
  return view === 'board' || view === 'tasks';
}

/**
 * @param {string} repoUrl
 * @returns {string} Without its scheme and `.git`, for people; a local repository without a remote has its folder alone.
 */
export function shortRepository(repoUrl) {
  return repoUrl.replace(/^https:\/\/localhost\/local\//, '').replace(/^[a-z+]+:\/\//i, '').replace(/\.git$/, '').replace(/\/$/, '');
}
