// Makes the model: the state, the methods that change it, and its listeners.

import { readActivity } from './activity.js';
import { changePlace, queryOf, readPlace } from './address.js';
import { ApiError, makeApi } from './api.js';
import { makeClock } from './clock.js';
import { readOverview } from './overview.js';
import { initialState, reduce } from './reduce.js';
import { makeSession } from './session.js';
import { makeTeamReads } from './team_reads.js';
import { socketTransport, streamTransport } from './transport.js';
import { makeUserActions } from './user_actions.js';
import { watchBranch } from './watch.js';

/** @import { Model, Part, State } from './types.js' */

/** @type {Record<Part, (keyof State)[]>} */
const PARTS = {
  place: ['place'],
  graph: ['graph', 'graphState', 'progress', 'failure', 'policy'],
  locks: ['locks', 'neighbors', 'blocked', 'pending', 'locksReadAt', 'areLocksMissed'],
  agents: ['agents', 'waits', 'hasSeveralLogins'],
  activity: ['activity', 'isActivityRead', 'hasOlder'],
  intents: ['intents', 'refusals'],
  ledger: ['ledger'],
  teams: ['teams'],
  board: ['board'],
  work: ['work'],
  mail: ['mail'],
  connection: ['connection', 'shownAt'],
  problem: ['problem'],
  session: ['isSignedIn', 'needsToken', 'caller', 'mayForce'],
};

/** Delay before listeners are notified while the page is hidden and draws no frames. */
const HIDDEN_MS = 250;

/** @param {Window & typeof globalThis} [browser] @param {() => number} [localTime] @returns {Model} */
export function makeModel(browser = window, localTime = Date.now) {
  const { document, location, history } = browser;
  const base = new URL('.', location.href).href;
  const clock = makeClock(localTime);
  const session = makeSession(storageOf(browser));
  const { token } = session;
  const fetch = browser.fetch.bind(browser);
  const api = makeApi({ fetch, base, token, clock });
  const transports = [socketTransport(browser.WebSocket), streamTransport(fetch)];
  const timers = {
    setTimeout: browser.setTimeout.bind(browser),
    clearTimeout: browser.clearTimeout.bind(browser),
    setInterval: browser.setInterval.bind(browser),
    clearInterval: browser.clearInterval.bind(browser),
  };

  let current = initialState(readPlace(location.search), token() !== null);
  /** The state that the listeners know. */
  let notifiedState = current.state;
  /** @type {Set<(changed: Set<Part>) => void>} */
  const listeners = new Set();
  let isNotificationDue = false;
  /** @type {ReturnType<typeof watchBranch> | null} */
  let watcher = null;
  let isLedgerFollowed = false;
  let isMailFollowed = false;

  const isVisible = () => document.visibilityState === 'visible';

  function notify() {
    isNotificationDue = false;
    const before = notifiedState;
    const after = current.state;
    notifiedState = after;
    const parts = /** @type {Part[]} */ (Object.keys(PARTS));
    const changed = new Set(parts.filter((part) => PARTS[part].some((key) => before[key] !== after[key])));
    if (changed.size > 0) for (const listener of [...listeners]) listener(changed);
  }

  /** @param {import('./reduce.js').FullState} next */
  function setCurrent(next) {
    current = next;
    if (isNotificationDue) return;
    isNotificationDue = true;
    if (isVisible()) browser.requestAnimationFrame(notify);
    else browser.setTimeout(notify, HIDDEN_MS);
  }

  /** @param {import('./reduce.js').Action} action */
  const dispatch = (action) => setCurrent(reduce(current, action));

  function watch() {
    watcher?.stop();
    watcher = null;
    const { place, needsToken, caller } = current.state;
    const next = initialState(place, token() !== null, needsToken);
    setCurrent({ ...next, state: { ...next.state, caller } });
    const { repoUrl, branch } = place;
    if (!repoUrl || !branch) return;
    watcher = watchBranch({
      ...{ repoUrl, branch, api, clock, base, token, transports, timers, isVisible, dispatch },
      isOnline: () => browser.navigator.onLine,
      get: () => current,
    });
    watcher.followLedger(isLedgerFollowed);
    watcher.followMail(isMailFollowed);
  }

  /** @param {import('./types.js').Place} place */
  function moveTo(place) {
    const { repoUrl, branch } = current.state.place;
    dispatch({ type: 'place', place });
    if (place.repoUrl !== repoUrl || place.branch !== branch) watch();
    else watcher?.syncSelection();
  }

  browser.addEventListener('popstate', () => moveTo(readPlace(location.search)));
  browser.addEventListener('online', () => watcher?.wake());
  document.addEventListener('visibilitychange', () => {
    if (isVisible()) watcher?.wake();
    // A hidden page may never get the frame that it has requested.
    notify();
  });
  watch();

  /** @type {(action: import('./user_actions.js').UserAction) => void} */
  let showConfirmation = () => {};
  const perform = makeUserActions({ api, current: () => current, login: () => current.state.caller?.login ?? null });

  const query = () => ({ repo_url: current.state.place.repoUrl ?? '', branch: current.state.place.branch ?? '' });

  return {
    get state() {
      return current.state;
    },
    subscribe: (listener) => void listeners.add(listener),
    go(change, isReplacing = false) {
      const place = changePlace(current.state.place, change);
      const address = queryOf(place) || location.pathname;
      if (isReplacing || address === location.search) history.replaceState(null, '', address);
      else history.pushState(null, '', address);
      moveTo(place);
    },
    loadOlder: async () => watcher?.loadOlder(),
    followLedger(isFollowed) {
      isLedgerFollowed = isFollowed;
      watcher?.followLedger(isFollowed);
    },
    filterLedger: (filter) => watcher?.filterLedger(filter),
    loadOlderLines: async () => watcher?.loadOlderLines(),
    followMail(isFollowed) {
      isMailFollowed = isFollowed;
      watcher?.followMail(isFollowed);
    },
    loadOlderMessages: async () => watcher?.loadOlderMessages(),
    readCompletedTasks: async () => watcher?.readCompletedTasks(),
    ...makeTeamReads({ api, state: () => current.state }),
    async historyOf(path) {
      const { body } = await api.get('api/activity', { ...query(), file: path, limit: '50' });
      return body.events.map((/** @type {any} */ event) => readActivity(event));
    },
    async overview(repoUrl) {
      const repository = { repo_url: repoUrl };
      const [locks, activity] = await Promise.all([
        api.get('api/locks', repository),
        api.get('api/activity', { ...repository, limit: '20' }),
      ]);
      return readOverview(locks.body, activity.body);
    },
    async branches() {
      const { repo_url } = query();
      const results = await Promise.allSettled([
        api.get('api/locks', { repo_url }).then(({ body }) => body.locks),
        api.get('api/activity', { repo_url, limit: '100' }).then(({ body }) => body.events),
      ]);
      const items = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      return [...new Set(items.map(({ branch }) => branch).filter(Boolean))];
    },
    async check(path) {
      const head = current.head ?? current.state.graph?.version;
      if (!head) throw new Error('The head of the branch is not known yet: ask again when the import graph is built.');
      try {
        const { body } = await api.post('api/check_status', { ...query(), file_paths: [path], agent_head: head });
        const { action, reason } = body.orchestration;
        return { status: body.status, command: action, reason, warnings: body.warnings };
      } catch (error) {
        if (!(error instanceof ApiError) || error.problem.kind !== 'unavailable') throw error;
        return { status: 'OFFLINE', command: 'STOP', reason: error.message, warnings: [] };
      }
    },
    async performAction(action, text) {
      try {
        return await perform(action, text);
      } catch (error) {
        const isForbidden = error instanceof ApiError && error.problem.kind === 'forbidden';
        // The page no longer offers a release by force to a caller without the right to it.
        if (action.kind === 'release' && isForbidden) dispatch({ type: 'force_refused' });
        throw error;
      }
    },
    confirmAction: (action) => showConfirmation(action),
    onConfirmAction: (listener) => (showConfirmation = listener),
    setCaller: (caller) => dispatch({ type: 'caller', caller }),
    token,
    signIn(text) {
      session.keep(text);
      watch();
    },
    signOut() {
      session.keep(null);
      watch();
    },
    retry: () => watcher?.retry(),
    now: clock.now,
  };
}

/** @param {Window} browser @returns {Storage | null} */
function storageOf(browser) {
  try {
    return browser.sessionStorage;
  } catch {
    return null;
  }
}
