// Watches one branch: reads its state, follows the events, and reads again if the events do not say enough.

import { ApiError, problemOfStream } from './api.js';
import { watchIntents } from './intents_watch.js';
import { watchLedger } from './ledger_watch.js';
import { firstExpiry, isPartial, readLocks } from './locks.js';
import { readPending } from './pending.js';
import { coalesceCalls, makeTimer } from './scheduling.js';
import { makeStream } from './stream.js';
import { watchTeams } from './teams_watch.js';
import { readWaits } from './waits.js';

/** @import { Problem } from './types.js' */
/** @import { Action, FullState } from './reduce.js' */

/** Events that arrive together are applied together, well within a frame. */
const BATCH_MS = 8;
/** Delay of a read, so that several events cause one. */
const DEBOUNCE_MS = 250;
/** Interval of reading the locks while an agent waits: no event says that an agent no longer repeats its claim. */
const WAITING_MS = 10_000;
/** Interval of checking what changes with time alone. */
const TICK_MS = 30_000;
/** Locks and graph that are older are read again. */
const TRUTH_MS = 60_000;
/** Intervals of reading the graph until it is ready. */
const BUILDING_MS = 3000;
const STALE_MS = 15_000;
const FAILED_MS = 60_000;
/** Delay before a read is repeated that the server did not answer, although events arrive. It doubles each time. */
const UNANSWERED_MS = 2000;
const LONGEST_UNANSWERED_MS = 60_000;
/** Time without news after which the page is offline: longer than the longest pause between two attempts. */
const OFFLINE_MS = 20_000;
/** Problems that another attempt alone does not solve. */
const FINAL_KINDS = new Set(['no_repository', 'no_branch', 'sign_in', 'forbidden', 'misconfigured', 'invalid']);
/** Maximum number of pages of the log that one request for older events reads. */
const MAX_PAGES = 4;

/**
 * The timer functions of the browser. Tests pass their own.
 * @typedef {object} Timers
 * @property {(callback: () => void, ms: number) => any} setTimeout
 * @property {(timer: any) => void} clearTimeout
 * @property {(callback: () => void, ms: number) => any} setInterval
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
 * @param {() => FullState} options.get
 * @param {(action: Action) => void} options.dispatch
 */
export function watchBranch(options) {
  const { repoUrl, branch, api, clock, base, token, transports, timers, isVisible, isOnline, get } = options;
  const query = { repo_url: repoUrl, branch };
  const startedAt = clock.now();
  let isStopped = false;
  /** @type {string | null} */
  let etag = null;
  let locksReadAt = -Infinity;
  let graphReadAt = -Infinity;
  let brokenAt = -Infinity;
  /** The server's time when the connection came back. The page missed the events before it. @type {number | null} */
  let caughtUpTo = null;
  /** Events to apply with the next batch. @type {any[]} */
  let queue = [];
  /** By the read, or the stream, that met the problem. @type {Map<string, Problem>} */
  const problems = new Map();
  /** The reads among them that the server did not answer. @type {Set<string>} */
  const unanswered = new Set();

  /** @param {Action} action */
  function dispatch(action) {
    if (isStopped) return;
    options.dispatch(action);
    const first = firstExpiry(get().state.locks);
    expiryTimer.clear();
    if (first !== null) expiryTimer.set(Math.max(0, Math.min(first - clock.now(), TICK_MS)));
    if (get().state.waits.length > 0) waitsTimer.set(WAITING_MS);
    else waitsTimer.clear();
  }

  const expiryTimer = makeTimer(() => dispatch({ type: 'tick', now: clock.now() }), timers);
  const batchTimer = makeTimer(applyQueue, timers);
  const locksTimer = makeTimer(() => loadLocks(), timers);
  const waitsTimer = makeTimer(() => {
    if (isVisible() && get().state.waits.length > 0) loadLocks();
  }, timers);
  const graphTimer = makeTimer(() => loadGraph(), timers);
  const retryTimer = makeTimer(() => loadAll(), timers);

  /** @param {string} source @param {Problem | null} problem */
  function setProblem(source, problem) {
    if (isStopped) return;
    if (problem) problems.set(source, problem);
    else if (!problems.delete(source)) return;
    const current = [...problems.values()];
    const worst = current.find(({ kind }) => FINAL_KINDS.has(kind)) ?? current[0] ?? null;
    const firstRetryAt = Math.min(...current.map(({ retryAt }) => retryAt ?? Infinity));
    if (worst && FINAL_KINDS.has(worst.kind)) {
      stream.stop();
      retryTimer.clear();
      setPhase('ended', null);
    } else if (firstRetryAt < Infinity) retryTimer.set(Math.max(1000, firstRetryAt - clock.now()));
    dispatch({ type: 'problem', problem: worst });
    if (worst?.kind === 'sign_in') dispatch({ type: 'session', isSignedIn: token() !== null, needsToken: true });
  }

  /** @param {string} source */
  function clearProblem(source) {
    unanswered.delete(source);
    setProblem(source, null);
  }

  /** @param {string} source @param {() => Promise<void>} read */
  const reportingProblems = (source, read) => {
    let failures = 0;
    return coalesceCalls(async () => {
      try {
        await read();
        failures = 0;
        clearProblem(source);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (!error.isUnanswered) {
          unanswered.delete(source);
          setProblem(source, error.problem);
        } else if (get().state.connection.phase === 'live') {
          const retryAt = clock.now() + Math.min(LONGEST_UNANSWERED_MS, UNANSWERED_MS * 2 ** failures);
          failures += 1;
          unanswered.add(source);
          const message = `The server does not answer requests for the ${source}.`;
          setProblem(source, { kind: 'unavailable', message, retryAt });
        }
      }
    });
  };

  let isGraphLoading = false;
  const loadGraph = reportingProblems('graph', async () => {
    graphTimer.clear();
    isGraphLoading = true;
    const answer = await api.get('api/graph', { ...query, format: 'compact' }, etag)
      .finally(() => (isGraphLoading = false));
    graphReadAt = clock.now();
    if (answer.status !== 304) {
      etag = answer.etag;
      dispatch({ type: 'graph', body: answer.body, now: clock.now() });
    }
    const { graphState, failure } = get().state;
    if (isStopped || graphState === 'ready') return;
    graphTimer.set(failure ? FAILED_MS : graphState === 'building' ? BUILDING_MS : STALE_MS);
  });

  const loadLocks = reportingProblems('locks', async () => {
    dispatch({ type: 'locks_asked' });
    try {
      const { body } = await api.get('api/locks', query);
      applyQueue();
      locksReadAt = clock.now();
      const lists = {
        locks: readLocks(body, branch), waits: readWaits(body, branch), pending: readPending(body, branch),
      };
      dispatch({ type: 'locks', ...lists, now: clock.now() });
    } catch (error) {
      dispatch({ type: 'locks_failed' });
      throw error;
    }
  });

  let hasMissedEvents = false;
  /** Where the next page of older events begins. @type {string | null} */
  let earlier = null;
  const loadActivity = reportingProblems('activity', async () => {
    const { activity, connection, isActivityRead } = get().state;
    const isFirst = !isActivityRead || activity.length === 0;
    // A list that is read before the stream is back contains events that the stream would have delivered as missed.
    const isCaughtUp = hasMissedEvents || (!isFirst && connection.phase !== 'live');
    hasMissedEvents = false;
    const { body } = await api.get('api/activity', { ...query, limit: '100' });
    if (isFirst) earlier = body.earlier ?? null;
    const hasOlder = isFirst ? earlier !== null : undefined;
    dispatch({ type: 'activity', events: body.events, isCaughtUp, hasOlder, now: clock.now() });
  });

  const context = { repoUrl, branch, api, clock, timers, state: () => get().state, dispatch };
  const intents = watchIntents(context);
  const ledger = watchLedger(context);
  const teams = watchTeams(context);

  async function loadAll() {
    await Promise.all([loadGraph(), loadLocks(), loadActivity()]);
  }

  /** In this order: a repository without intents has no ledger to read. */
  async function loadIntents() {
    await intents.read();
    await ledger.read();
  }

  /** Reads without events, if the server answers and has not asked the page to wait. */
  async function poll() {
    if ([...problems.values()].some(({ retryAt }) => retryAt !== null && retryAt > clock.now())) return;
    const before = locksReadAt;
    await loadLocks();
    if (locksReadAt === before) return;
    const isGraphOld = clock.now() - graphReadAt >= TRUTH_MS;
    await Promise.all([loadActivity(), intents.readFirst(), teams.readFirst(), isGraphOld && loadGraph()]);
  }

  function applyQueue() {
    batchTimer.clear();
    if (queue.length === 0) return;
    const events = queue;
    queue = [];
    dispatch({ type: 'events', events, caughtUpTo: caughtUpTo ?? -1, now: clock.now() });
    intents.onEvents(events);
    ledger.onEvents(events);
    teams.onEvents(events);
    // A file that was released on a work branch waits for a merge, which a new head may contain.
    const isPending = events.some(({ type, work_branch }) => type === 'lock_released' && work_branch);
    const isMerged = get().state.pending.length > 0 && events.some(({ type }) => type === 'graph_update');
    if (isPending || isMerged || events.some(isPartial)) locksTimer.set(DEBOUNCE_MS);
    if (events.some(({ type }) => type === 'graph_update' || type === 'head_moved')) {
      graphTimer.clear();
      graphTimer.set(DEBOUNCE_MS);
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
    const lastMessageAt = phase === 'live' ? now : connection.lastMessageAt;
    dispatch({ type: 'connection', change: { phase, since, isLate, lastMessageAt, retryAt }, now });
  }

  const stream = makeStream({
    url: new URL(`api/events?${new URLSearchParams(query)}`, base),
    token,
    transports,
    timers,
    isAnswering: () => locksReadAt > brokenAt,
    listener: {
      opened({ isResumed, isLive, timeMs }) {
        clock.addSample(timeMs);
        caughtUpTo = isResumed ? timeMs : null;
        setProblem('stream', null);
        setPhase('live', null, !isLive);
        loadLocks();
        if (graphReadAt === -Infinity && !isGraphLoading) loadGraph();
        if (!get().state.isActivityRead) loadActivity();
        loadIntents();
        teams.onStreamOpened(isResumed);
      },
      resync() {
        hasMissedEvents = true;
        dispatch({ type: 'locks_missed' });
        loadAll();
        loadIntents();
        teams.onStreamOpened(false);
      },
      event(event) {
        queue.push(event);
        batchTimer.set(BATCH_MS);
      },
      heartbeat(isLive, timeMs) {
        clock.addSample(timeMs);
        const wasLate = get().state.connection.isLate;
        setPhase('live', null, !isLive);
        if (wasLate && isLive) loadLocks();
      },
      refused({ code, message, retryAfter }) {
        const retryAt = retryAfter === null ? null : clock.now() + retryAfter * 1000;
        setProblem('stream', problemOfStream(code, message, retryAt));
      },
      broken(retryInMs) {
        if (retryInMs === null) {
          setPhase('ended', null);
          if (problems.size === 0) loadAll();
          return;
        }
        brokenAt = clock.now();
        // The state of the connection already reports that the server does not answer. When the connection is back, the
        // page reads everything again.
        for (const source of [...unanswered]) clearProblem(source);
        const { shownAt, connection } = get().state;
        const isOld = clock.now() - Math.max(startedAt, shownAt ?? 0, connection.lastMessageAt ?? 0) > OFFLINE_MS;
        setPhase(!isOnline() || isOld ? 'offline' : 'reconnecting', clock.now() + retryInMs);
        if (isVisible() && connection.phase !== 'live') poll();
      },
    },
  });

  const ticks = timers.setInterval(() => {
    dispatch({ type: 'tick', now: clock.now() });
    const isOld = clock.now() - locksReadAt >= TRUTH_MS;
    if (isVisible() && isOld && !problems.has('locks') && get().state.connection.phase === 'live') loadLocks();
  }, TICK_MS);

  setPhase('connecting', null);
  stream.start();
  loadAll();

  return {
    /** Called when the user comes back to the page, or the network is back. */
    wake() {
      stream.hurry();
      if (clock.now() - locksReadAt < TRUTH_MS) return;
      loadLocks();
      intents.readShown();
      ledger.read();
      teams.wake();
    },
    retry() {
      retryTimer.clear();
      if (get().state.connection.phase === 'ended') {
        problems.clear();
        dispatch({ type: 'problem', problem: null });
        setPhase('connecting', null);
        stream.start();
      } else stream.hurry();
      loadAll();
    },
    async loadOlder() {
      // The log has the events of all branches: a page of it may have none of this branch.
      for (let page = 0; page < MAX_PAGES && earlier !== null; page += 1) {
        const { body } = await api.get('api/activity', { ...query, before: earlier, limit: '100' });
        earlier = body.earlier ?? null;
        const hasOlder = earlier !== null;
        dispatch({ type: 'activity', events: body.events, isCaughtUp: false, hasOlder, now: clock.now() });
        if (body.events.length > 0) return;
      }
    },
    followLedger: ledger.setFollowed,
    filterLedger: ledger.setFilter,
    loadOlderLines: ledger.loadOlder,
    followMail: teams.followMail,
    loadOlderMessages: teams.loadOlderMessages,
    readCompletedTasks: teams.readCompletedTasks,
    syncSelection: teams.syncSelection,
    stop() {
      isStopped = true;
      stream.stop();
      intents.stop();
      ledger.stop();
      teams.stop();
      for (const timer of [expiryTimer, batchTimer, locksTimer, waitsTimer, graphTimer, retryTimer]) timer.clear();
      timers.clearInterval(ticks);
    },
  };
}
