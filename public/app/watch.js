// Watches one branch: reads what there is, follows the events, and reads again where the events do not say all.

import { ApiError, problemOfStream } from './api.js';
import { watchIntents } from './intents_watch.js';
import { watchLedger } from './ledger_watch.js';
import { firstExpiry, isPartial, readLocks } from './locks.js';
import { readPending } from './pending.js';
import { makeTimer, oneAtATime } from './reads.js';
import { makeStream } from './stream.js';
import { watchTeams } from './teams_watch.js';
import { readWaits } from './waits.js';

/** @typedef {import('./types.js').Problem} Problem */
/** @typedef {import('./reduce.js').Action} Action */
/** @typedef {import('./reduce.js').Whole} Whole */

/** Events that come together are applied together, well within a frame. */
const BATCH_MS = 8;
/** Before a read that several events want. */
const DEBOUNCE_MS = 250;
/** Interval at which the locks are read again while somebody waits: no event tells that a claim is not made any more. */
const WAITING_MS = 10_000;
/** Interval at which time alone is looked at, and half of that at which the locks are read again. */
const TICK_MS = 30_000;
const TRUTH_MS = 60_000;
/** Intervals of reading the graph while it is built. */
const BUILDING_MS = 3000;
const STALE_MS = 15_000;
const FAILED_MS = 60_000;
/** Before a read is repeated that was not answered, although events arrive: twice as long each time. */
const UNANSWERED_MS = 2000;
const LONGEST_UNANSWERED_MS = 60_000;
/** How long no news may have come before the page calls itself offline: longer than the longest pause between two attempts. */
const OFFLINE_MS = 20_000;
/** Problems that another attempt alone does not solve. */
const FINAL = new Set(['no_repository', 'no_branch', 'sign_in', 'forbidden', 'misconfigured', 'invalid']);
/** Pages of the log that are read for older events at once. */
const MOST_PAGES = 4;

/**
 * What a watcher needs of the browser; a test gives its own.
 * @typedef {object} Timers
 * @property {(act: () => void, ms: number) => any} setTimeout
 * @property {(timer: any) => void} clearTimeout
 * @property {(act: () => void, ms: number) => any} setInterval
 * @property {(timer: any) => void} clearInterval
 */

/**
 * @param {object} options
 * @param {string} options.repoUrl
 * @param {string} options.branch
 * @param {import('./api.js').Api} options.api
 * @param {import('./clock.js').Clock} options.clock
 * @param {string} options.base Address of the page.
 * @param {() => string | null} options.token
 * @param {import('./transport.js').Transport[]} options.transports
 * @param {Timers} options.timers
 * @param {() => boolean} options.isVisible
 * @param {() => boolean} options.isOnline
 * @param {() => Whole} options.get
 * @param {(action: Action) => void} options.dispatch
 */
export function watchBranch({ repoUrl, branch, api, clock, base, token, transports, timers, isVisible, isOnline, get, dispatch: tell }) {
  const query = { repo_url: repoUrl, branch };
  const startedAt = clock.now();
  let isStopped = false;
  /** @type {string | null} */
  let etag = null;
  let locksReadAt = -Infinity;
  let graphReadAt = -Infinity;
  let brokenAt = -Infinity;
  /** @type {number | null} The time of the server when the connection came back: what happened before was missed. */
  let caughtUpTo = null;
  /** @type {any[]} */
  let queue = [];
  /** @type {Map<string, Problem>} By what met it. */
  const problems = new Map();
  /** Those of them that a request without an answer met. @type {Set<string>} */
  const unanswered = new Set();

  /** @param {Action} action */
  function dispatch(action) {
    if (isStopped) return;
    tell(action);
    const first = firstExpiry(get().state.locks);
    expiry.clear();
    if (first !== null) expiry.set(Math.max(0, Math.min(first - clock.now(), TICK_MS)));
    if (get().state.waits.length > 0) waitsLater.set(WAITING_MS);
    else waitsLater.clear();
  }

  const expiry = makeTimer(() => dispatch({ type: 'tick', now: clock.now() }), timers);
  const batch = makeTimer(flush, timers);
  const locksSoon = makeTimer(() => locks(), timers);
  const waitsLater = makeTimer(() => {
    if (isVisible() && get().state.waits.length > 0) locks();
  }, timers);
  const graphSoon = makeTimer(() => graph(), timers);
  const again = makeTimer(() => readAll(), timers);

  /**
   * @param {string} source
   * @param {Problem | null} problem
   */
  function meet(source, problem) {
    if (isStopped) return;
    if (problem) problems.set(source, problem);
    else if (!problems.delete(source)) return;
    const all = [...problems.values()];
    const worst = all.find(({ kind }) => FINAL.has(kind)) ?? all[0] ?? null;
    const first = Math.min(...all.map(({ retryAt }) => retryAt ?? Infinity));
    if (worst && FINAL.has(worst.kind)) {
      stream.stop();
      again.clear();
      setPhase('ended', null);
    } else if (first < Infinity) again.set(Math.max(1000, first - clock.now()));
    dispatch({ type: 'problem', problem: worst });
    if (worst?.kind === 'sign_in') dispatch({ type: 'session', isSignedIn: token() !== null, needsToken: true });
  }

  /**
   * @param {string} source
   * @param {() => Promise<void>} read
   */
  const guarded = (source, read) => {
    let failures = 0;
    return oneAtATime(async () => {
      try {
        await read();
        failures = 0;
        answered(source);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (!error.isUnanswered) {
          unanswered.delete(source);
          meet(source, error.problem);
        } else if (get().state.connection.phase === 'live') {
          const retryAt = clock.now() + Math.min(LONGEST_UNANSWERED_MS, UNANSWERED_MS * 2 ** failures);
          failures += 1;
          unanswered.add(source);
          meet(source, { kind: 'unavailable', message: `The server does not answer requests for the ${source}.`, retryAt });
        }
      }
    });
  };

  /** @param {string} source */
  function answered(source) {
    unanswered.delete(source);
    meet(source, null);
  }

  let isGraphUnderWay = false;
  const graph = guarded('graph', async () => {
    graphSoon.clear();
    isGraphUnderWay = true;
    const answer = await api.get('api/graph', { ...query, format: 'compact' }, etag).finally(() => (isGraphUnderWay = false));
    graphReadAt = clock.now();
    if (answer.status !== 304) {
      etag = answer.etag;
      dispatch({ type: 'graph', body: answer.body, now: clock.now() });
    }
    const { graphState, failure } = get().state;
    if (isStopped || graphState === 'ready') return;
    graphSoon.set(failure ? FAILED_MS : graphState === 'building' ? BUILDING_MS : STALE_MS);
  });

  const locks = guarded('locks', async () => {
    dispatch({ type: 'locks_asked' });
    try {
      const { body } = await api.get('api/locks', query);
      flush();
      locksReadAt = clock.now();
      dispatch({ type: 'locks', locks: readLocks(body, branch), waits: readWaits(body, branch), pending: readPending(body, branch), now: clock.now() });
    } catch (error) {
      dispatch({ type: 'locks_failed' });
      throw error;
    }
  });

  let isMissed = false;
  /** @type {string | null} From where older events are read. */
  let earlier = null;
  const activity = guarded('activity', async () => {
    const { activity: shown, connection, isActivityRead } = get().state;
    const isFirst = !isActivityRead || shown.length === 0;
    // A list that is read before the stream is back has what the stream would have brought as missed.
    const isCaughtUp = isMissed || (!isFirst && connection.phase !== 'live');
    isMissed = false;
    const { body } = await api.get('api/activity', { ...query, limit: '100' });
    if (isFirst) earlier = body.earlier ?? null;
    const hasOlder = isFirst ? earlier !== null : undefined;
    dispatch({ type: 'activity', events: body.events, isCaughtUp, hasOlder, now: clock.now() });
  });

  const part = { repoUrl, branch, api, clock, timers, state: () => get().state, dispatch };
  const intents = watchIntents(part);
  const ledger = watchLedger(part);
  const teams = watchTeams(part);

  async function readAll() {
    await Promise.all([graph(), locks(), activity()]);
  }

  /** What was missed of the intents and the ledger. The ledger of a repository without intents is not asked for. */
  async function readIntents() {
    await intents.read();
    await ledger.read();
  }

  /** What can be had without events, from a server that answers and does not ask us to wait. */
  async function poll() {
    if ([...problems.values()].some(({ retryAt }) => retryAt !== null && retryAt > clock.now())) return;
    const before = locksReadAt;
    await locks();
    if (locksReadAt === before) return;
    await Promise.all([activity(), intents.readFirst(), teams.readFirst(), clock.now() - graphReadAt >= TRUTH_MS && graph()]);
  }

  function flush() {
    batch.clear();
    if (queue.length === 0) return;
    const events = queue;
    queue = [];
    dispatch({ type: 'events', events, caughtUpTo: caughtUpTo ?? -1, now: clock.now() });
    intents.heard(events);
    ledger.heard(events);
    teams.heard(events);
    // What is given back on a work branch waits to be merged, and a new head may have it.
    const isPending = events.some(({ type, work_branch }) => type === 'lock_released' && work_branch);
    const isMerged = get().state.pending.length > 0 && events.some(({ type }) => type === 'graph_update');
    if (isPending || isMerged || events.some(isPartial)) locksSoon.set(DEBOUNCE_MS);
    if (events.some(({ type }) => type === 'graph_update' || type === 'head_moved')) {
      graphSoon.clear();
      graphSoon.set(DEBOUNCE_MS);
    }
  }

  /**
   * @param {import('./types.js').Connection['phase']} phase
   * @param {number | null} retryAt
   * @param {boolean} [isLate]
   */
  function setPhase(phase, retryAt, isLate = false) {
    const { connection } = get().state;
    const now = clock.now();
    const since = connection.phase === phase && connection.since ? connection.since : now;
    const heardAt = phase === 'live' ? now : connection.heardAt;
    dispatch({ type: 'connection', change: { phase, since, isLate, heardAt, retryAt }, now });
  }

  const stream = makeStream({
    url: new URL(`api/events?${new URLSearchParams(query)}`, base),
    token,
    transports,
    timers,
    isAnswering: () => locksReadAt > brokenAt,
    listener: {
      opened({ isResumed, isLive, timeMs }) {
        clock.heard(timeMs);
        caughtUpTo = isResumed ? timeMs : null;
        meet('stream', null);
        setPhase('live', null, !isLive);
        locks();
        if (graphReadAt === -Infinity && !isGraphUnderWay) graph();
        if (!get().state.isActivityRead) activity();
        readIntents();
        teams.opened(isResumed);
      },
      resync() {
        isMissed = true;
        dispatch({ type: 'locks_missed' });
        readAll();
        readIntents();
        teams.opened(false);
      },
      event(event) {
        queue.push(event);
        batch.set(BATCH_MS);
      },
      heartbeat(isLive, timeMs) {
        clock.heard(timeMs);
        const wasLate = get().state.connection.isLate;
        setPhase('live', null, !isLive);
        if (wasLate && isLive) locks();
      },
      refused({ code, message, retryAfter }) {
        const problem = problemOfStream(code, message, retryAfter === null ? null : clock.now() + retryAfter * 1000);
        meet('stream', problem);
      },
      broken(retryInMs) {
        if (retryInMs === null) {
          setPhase('ended', null);
          if (problems.size === 0) readAll();
          return;
        }
        brokenAt = clock.now();
        // Without an answer, the connection is what is wrong, and it says so: all is read again when it is back.
        for (const source of [...unanswered]) answered(source);
        const { shownAt, connection } = get().state;
        const isOld = clock.now() - Math.max(startedAt, shownAt ?? 0, connection.heardAt ?? 0) > OFFLINE_MS;
        setPhase(!isOnline() || isOld ? 'offline' : 'reconnecting', clock.now() + retryInMs);
        if (isVisible() && connection.phase !== 'live') poll();
      },
    },
  });

  const ticks = timers.setInterval(() => {
    dispatch({ type: 'tick', now: clock.now() });
    const isOld = clock.now() - locksReadAt >= TRUTH_MS;
    if (isVisible() && isOld && !problems.has('locks') && get().state.connection.phase === 'live') locks();
  }, TICK_MS);

  setPhase('connecting', null);
  stream.start();
  readAll();

  return {
    /** The page is looked at, or the network is back. */
    wake() {
      stream.hurry();
      if (clock.now() - locksReadAt < TRUTH_MS) return;
      locks();
      intents.readShown();
      ledger.read();
      teams.wake();
    },
    retry() {
      again.clear();
      if (get().state.connection.phase === 'ended') {
        problems.clear();
        dispatch({ type: 'problem', problem: null });
        setPhase('connecting', null);
        stream.start();
      } else stream.hurry();
      readAll();
    },
    async loadOlder() {
      // The log has the events of all branches: a page of it may have none of this one.
      for (let page = 0; page < MOST_PAGES && earlier !== null; page += 1) {
        const { body } = await api.get('api/activity', { ...query, before: earlier, limit: '100' });
        earlier = body.earlier ?? null;
        dispatch({ type: 'activity', events: body.events, isCaughtUp: false, hasOlder: earlier !== null, now: clock.now() });
        if (body.events.length > 0) return;
      }
    },
    followLedger: ledger.follow,
    filterLedger: ledger.filter,
    lengthenLedger: ledger.lengthen,
    followMail: teams.followMail,
    lengthenMail: teams.lengthenMail,
    readDone: teams.readDone,
    moved: teams.moved,
    stop() {
      isStopped = true;
      stream.stop();
      intents.stop();
      ledger.stop();
      teams.stop();
      for (const timer of [expiry, batch, locksSoon, waitsLater, graphSoon, again]) timer.clear();
      timers.clearInterval(ticks);
    },
  };
}
