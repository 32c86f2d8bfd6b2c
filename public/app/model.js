// Makes the model: the state, what changes it, and who is told.

import { makeActs } from './acts.js';
import { readActivity } from './activity.js';
import { changedPlace, readPlace, searchOf } from './address.js';
import { ApiError, makeApi } from './api.js';
import { makeClock } from './clock.js';
import { readOverview } from './overview.js';
import { emptyWhole, reduce } from './reduce.js';
import { makeSession } from './session.js';
import { makeTeamReads } from './team_reads.js';
import { socketTransport, streamTransport } from './transport.js';
import { watchBranch } from './watch.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').Part} Part */
/** @typedef {import('./types.js').State} State */

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

/** Interval at which listeners are told while the page is hidden and draws no frames. */
const HIDDEN_MS = 250;

/**
 * @param {Window & typeof globalThis} [browser]
 * @param {() => number} [localTime]
 * @returns {Model}
 */
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

  let whole = emptyWhole(readPlace(location.search), token() !== null);
  let told = whole.state;
  /** @type {Set<(changed: Set<Part>) => void>} */
  const listeners = new Set();
  let isTelling = false;
  /** @type {ReturnType<typeof watchBranch> | null} */
  let watcher = null;
  let isLedgerFollowed = false;
  let isMailFollowed = false;

  const isVisible = () => document.visibilityState === 'visible';

  function tell() {
    isTelling = false;
    const before = told;
    told = whole.state;
    const parts = /** @type {Part[]} */ (Object.keys(PARTS));
    const changed = new Set(parts.filter((part) => PARTS[part].some((key) => before[key] !== told[key])));
    if (changed.size > 0) for (const listener of [...listeners]) listener(changed);
  }

  /** @param {import('./reduce.js').Whole} next */
  function become(next) {
    whole = next;
    if (isTelling) return;
    isTelling = true;
    if (isVisible()) browser.requestAnimationFrame(tell);
    else browser.setTimeout(tell, HIDDEN_MS);
  }

  function watch() {
    watcher?.stop();
    watcher = null;
    const { place, needsToken, caller } = whole.state;
    const next = emptyWhole(place, token() !== null, needsToken);
    become({ ...next, state: { ...next.state, caller } });
    const { repoUrl, branch } = place;
    if (!repoUrl || !branch) return;
    watcher = watchBranch({
      ...{ repoUrl, branch, api, clock, base, token, transports, timers, isVisible },
      isOnline: () => browser.navigator.onLine,
      get: () => whole,
      dispatch: (action) => become(reduce(whole, action)),
    });
    watcher.followLedger(isLedgerFollowed);
    watcher.followMail(isMailFollowed);
  }

  /** @param {import('./types.js').Place} place */
  function arrive(place) {
    const { repoUrl, branch } = whole.state.place;
    become(reduce(whole, { type: 'place', place }));
    if (place.repoUrl !== repoUrl || place.branch !== branch) watch();
    else watcher?.moved();
  }

  browser.addEventListener('popstate', () => arrive(readPlace(location.search)));
  browser.addEventListener('online', () => watcher?.wake());
  document.addEventListener('visibilitychange', () => {
    if (isVisible()) watcher?.wake();
    // A frame that was waited for may not come.
    tell();
  });
  watch();

  /** @type {(act: import('./acts.js').Act) => void} */
  let asked = () => {};
  const doAct = makeActs({ api, whole: () => whole, login: () => whole.state.caller?.login ?? null });

  const query = () => ({ repo_url: whole.state.place.repoUrl ?? '', branch: whole.state.place.branch ?? '' });

  return {
    get state() {
      return whole.state;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    go(change, isReplacing = false) {
      const place = changedPlace(whole.state.place, change);
      const address = searchOf(place) || location.pathname;
      if (isReplacing || address === location.search) history.replaceState(null, '', address);
      else history.pushState(null, '', address);
      arrive(place);
    },
    loadOlder: async () => watcher?.loadOlder(),
    followLedger(isFollowed) {
      isLedgerFollowed = isFollowed;
      watcher?.followLedger(isFollowed);
    },
    filterLedger: (filter) => watcher?.filterLedger(filter),
    lengthenLedger: async () => watcher?.lengthenLedger(),
    followMail(isFollowed) {
      isMailFollowed = isFollowed;
      watcher?.followMail(isFollowed);
    },
    lengthenMail: async () => watcher?.lengthenMail(),
    readDone: async () => watcher?.readDone(),
    ...makeTeamReads({ api, state: () => whole.state }),
    async historyOf(path) {
      const { body } = await api.get('api/activity', { ...query(), file: path, limit: '50' });
      return body.events.map((/** @type {any} */ event) => readActivity(event));
    },
    async overview(repoUrl) {
      const of = { repo_url: repoUrl };
      const [locks, activity] = await Promise.all([api.get('api/locks', of), api.get('api/activity', { ...of, limit: '20' })]);
      return readOverview(locks.body, activity.body);
    },
    async branches() {
      const { repo_url } = query();
      const answers = await Promise.allSettled([
        api.get('api/locks', { repo_url }).then(({ body }) => body.locks),
        api.get('api/activity', { repo_url, limit: '100' }).then(({ body }) => body.events),
      ]);
      const all = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      return [...new Set(all.map(({ branch }) => branch).filter(Boolean))];
    },
    async check(path) {
      const head = whole.head ?? whole.state.graph?.version;
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
    async act(act, text) {
      try {
        return await doAct(act, text);
      } catch (error) {
        // Who has no right to it is not offered it again.
        if (act.kind === 'release' && error instanceof ApiError && error.problem.kind === 'forbidden') become(reduce(whole, { type: 'force_refused' }));
        throw error;
      }
    },
    ask: (act) => asked(act),
    onAct: (listener) => (asked = listener),
    knowCaller: (caller) => become(reduce(whole, { type: 'caller', caller })),
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

/**
 * @param {Window} browser
 * @returns {Storage | null}
 */
function storageOf(browser) {
  try {
    return browser.sessionStorage;
  } catch {
    return null;
  }
}
