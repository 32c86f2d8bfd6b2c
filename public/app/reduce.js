// The state of the page, and what each action makes of it. Nothing here has an effect.

import { agentsOf, noteEvents } from './agents.js';
import { mergeActivity, MOST_ACTIVITY, readActivity } from './activity.js';
import { applyToBoard, unreadBoard } from './board.js';
import { readGraph } from './graph.js';
import { openRefusals } from './intent_refusals.js';
import { applyToIntents, unknownIntents } from './intents.js';
import { unreadLedger } from './ledger.js';
import { areLocksWhole, isFollowed } from './lock_knowledge.js';
import { applyEvents, isPartial, unexpired, withKnown } from './locks.js';
import { unreadMail } from './messages.js';
import { blockedAmong, neighborsOf } from './neighbors.js';
import { isOfTeams, unknownTeams } from './teams.js';
import { applyToWaits } from './waits.js';

/** @typedef {import('./types.js').State} State */
/** @typedef {import('./types.js').Place} Place */
/** @typedef {import('./types.js').Problem} Problem */
/** @typedef {import('./types.js').Connection} Connection */

/**
 * The state, and what it is derived from.
 * @typedef {object} Whole
 * @property {State} state
 * @property {import('./agents.js').Notes} notes
 * @property {any[] | null} journal Events since the locks were asked for, while they are read.
 * @property {boolean} isJournalWhole Whether these are all that happened to the locks meanwhile.
 * @property {string | null} head The newest head that was heard of.
 */

/**
 * @typedef {{ type: 'place', place: Place }
 *   | { type: 'graph', body: import('./graph.js').GraphBody, now: number }
 *   | { type: 'locks_asked' }
 *   | { type: 'locks_failed' }
 *   | { type: 'locks_missed' }
 *   | { type: 'locks', locks: import('./locks.js').Locks, waits: import('./waits.js').Wait[], pending: import('./pending.js').Pending[], now: number }
 *   | { type: 'events', events: any[], caughtUpTo: number, now: number }
 *   | { type: 'activity', events: any[], isCaughtUp: boolean, hasOlder?: boolean, now: number }
 *   | { type: 'intents', intents: import('./types.js').Intents, now: number }
 *   | { type: 'ledger', ledger: import('./types.js').Ledger }
 *   | { type: 'teams', teams: import('./team_types.js').Teams }
 *   | { type: 'board', board: import('./team_types.js').Board }
 *   | { type: 'work', work: import('./team_types.js').Work | null }
 *   | { type: 'mail', mail: import('./team_types.js').Mail }
 *   | { type: 'connection', change: Partial<Connection>, now: number }
 *   | { type: 'problem', problem: Problem | null }
 *   | { type: 'session', isSignedIn: boolean, needsToken?: boolean }
 *   | { type: 'caller', caller: import('./caller.js').Caller | null }
 *   | { type: 'force_refused' }
 *   | { type: 'tick', now: number }} Action
 */

/**
 * @param {Place} place
 * @param {boolean} isSignedIn
 * @param {boolean} [needsToken]
 * @returns {Whole} That of a place of which nothing is known yet.
 */
export function emptyWhole(place, isSignedIn, needsToken = false) {
  return {
    state: {
      place,
      graph: null,
      graphState: 'none',
      progress: null,
      failure: null,
      policy: null,
      locks: new Map(),
      locksReadAt: null,
      areLocksMissed: false,
      neighbors: new Map(),
      blocked: new Set(),
      waits: [],
      hasSeveralLogins: false,
      pending: [],
      agents: [],
      activity: [],
      isActivityRead: false,
      hasOlder: false,
      intents: unknownIntents(),
      refusals: [],
      ledger: unreadLedger(),
      teams: unknownTeams(),
      board: unreadBoard(),
      work: null,
      mail: unreadMail(),
      connection: { phase: 'connecting', since: 0, isLate: false, heardAt: null, retryAt: null },
      problem: null,
      shownAt: null,
      isSignedIn,
      needsToken,
      caller: null,
      mayForce: true,
    },
    notes: new Map(),
    journal: null,
    isJournalWhole: true,
    head: null,
  };
}

/**
 * @param {Whole} whole
 * @param {Action} action
 * @returns {Whole} Parts that do not change stay the same objects.
 */
export function reduce(whole, action) {
  const { state } = whole;
  /** @param {Partial<State>} change */
  const having = (change) => ({ ...whole, state: { ...state, ...change } });
  switch (action.type) {
    case 'place':
      return having({ place: action.place });
    case 'graph':
      return ofGraph(whole, action.body, action.now);
    case 'locks_asked':
      return { ...whole, journal: [], isJournalWhole: true };
    case 'locks_failed':
      return { ...whole, journal: null };
    case 'locks_missed':
      return withMissed(whole);
    case 'locks': {
      // The list may be older than the events that came while it was read.
      const locks = applyEvents(withKnown(state.locks, action.locks), whole.journal ?? []);
      const read = { locksReadAt: action.now, areLocksMissed: state.areLocksMissed && !whole.isJournalWhole, shownAt: action.now };
      const waits = applyToWaits(action.waits, whole.journal ?? []);
      return derived({ ...whole, journal: null }, { locks: unexpired(locks, action.now), waits, pending: action.pending, ...read }, action.now);
    }
    case 'events':
      return ofEvents(whole, action);
    case 'activity': {
      const activity = mergeActivity(state.activity, action.events.map((event) => readActivity(event, action.isCaughtUp)));
      const hasOlder = (action.hasOlder ?? state.hasOlder) && activity.length < MOST_ACTIVITY;
      const oldestFirst = [...action.events].sort((one, other) => one.time - other.time);
      // Older events say nothing new of a holder that was heard since.
      const unheard = oldestFirst.filter((event) => !isOfTeams(event) && !whole.notes.has(event.user + (event.agent_id ? `/${event.agent_id}` : '')));
      return derived({ ...whole, notes: noteEvents(whole.notes, unheard) }, { activity, isActivityRead: true, hasOlder }, action.now);
    }
    case 'intents':
      return derived(whole, { intents: action.intents }, action.now);
    case 'ledger':
      return having({ ledger: action.ledger });
    case 'teams':
      return having({ teams: action.teams });
    case 'board':
      return having({ board: action.board });
    case 'work':
      return having({ work: action.work });
    case 'mail':
      return having({ mail: action.mail });
    case 'connection':
      return connected(whole, { ...state.connection, ...action.change }, action.now);
    case 'problem':
      return having({ problem: action.problem });
    case 'session':
      return having({ isSignedIn: action.isSignedIn, needsToken: action.needsToken ?? state.needsToken });
    case 'caller':
      return having({ caller: action.caller });
    case 'force_refused':
      return having({ mayForce: false });
    case 'tick':
      return derived(whole, { locks: unexpired(state.locks, action.now) }, action.now, true);
  }
}

/**
 * @param {Whole} whole
 * @param {Partial<State>} change
 * @param {number} now
 * @param {boolean} [isTimed] Whether time alone may have changed the agents.
 * @returns {Whole}
 */
function derived(whole, change, now, isTimed = false) {
  const { state } = whole;
  const next = { ...state, ...change };
  const isMoved = next.locks !== state.locks;
  if (isMoved || next.graph !== state.graph) next.neighbors = neighborsOf(next.graph, next.locks);
  if (isMoved || next.graph !== state.graph || next.policy !== state.policy) next.blocked = blockedAmong(next.neighbors, next.locks, next.policy);
  if (isMoved || isTimed || change.activity || next.waits !== state.waits) {
    next.agents = agentsOf(next.locks, next.waits, whole.notes, now);
    next.hasSeveralLogins = hasSeveralLogins(next.agents, whole.notes);
  }
  next.refusals = openRefusals(whole.notes, state.refusals);
  return { ...whole, state: next };
}

/** @param {import('./types.js').Agent[]} agents @param {import('./agents.js').Notes} notes */
function hasSeveralLogins(agents, notes) {
  const logins = new Set([...agents, ...notes.values()].map(({ user }) => user));
  return logins.size > 1;
}

/** @param {Whole} whole @returns {Whole} Locks may have changed without an event that says all. */
function withMissed(whole) {
  return { ...whole, isJournalWhole: false, state: { ...whole.state, areLocksMissed: true } };
}

/**
 * @param {Whole} whole
 * @param {Connection} connection
 * @param {number} now
 * @returns {Whole}
 */
function connected(whole, connection, now) {
  // The events of a break come after it, and the first list may be older than the first event.
  const isBack = isFollowed(connection) && !isFollowed(whole.state.connection);
  const next = isBack ? withMissed(whole) : whole;
  const state = { ...next.state, connection };
  return { ...next, state: { ...state, shownAt: areLocksWhole(state) ? now : state.shownAt } };
}

/**
 * @param {Whole} whole
 * @param {import('./graph.js').GraphBody} body
 * @param {number} now
 */
function ofGraph(whole, body, now) {
  const { state } = whole;
  const isSame = state.graph !== null && state.graph.version === body.version && state.graph.files.length === body.nodes.length;
  const graph = isSame ? state.graph : readGraph(body);
  return derived(whole, { graph, graphState: body.state, progress: body.progress ?? null, failure: body.failure ?? null, policy: body.policy ?? null }, now);
}

/**
 * @param {Whole} heard
 * @param {{ events: any[], caughtUpTo: number, now: number }} action Events up to `caughtUpTo` happened while the page was offline.
 * @returns {Whole}
 */
function ofEvents(heard, { events, caughtUpTo, now }) {
  const { branch } = heard.state.place;
  const own = events.filter((event) => event.branch === undefined || event.branch === branch);
  const whole = own.some(isPartial) ? withMissed(heard) : heard;
  const { state } = whole;
  /** @type {Partial<State>} */
  const change = { locks: unexpired(applyEvents(state.locks, own), now), waits: applyToWaits(state.waits, own), intents: applyToIntents(state.intents, own), board: applyToBoard(state.board, own) };
  if (areLocksWhole(state)) change.shownAt = now;
  const told = own.filter((event) => event.type !== 'graph_progress');
  if (told.length > 0) {
    const entries = told.map((event) => readActivity(event));
    for (const entry of entries) entry.isCaughtUp = entry.at <= caughtUpTo;
    change.activity = mergeActivity(state.activity, entries);
    if (change.activity.length === MOST_ACTIVITY) change.hasOlder = false;
  }
  for (const event of own) {
    if (event.type === 'head_moved' && state.graph && event.head !== state.graph.version) change.graphState = 'stale';
    if (event.type === 'graph_progress') {
      const { files, wanted, scanned } = event;
      change.progress = { files, wanted, scanned };
      change.graphState = state.graph ? 'stale' : 'building';
    }
    if (event.type === 'graph_update') change.progress = null;
  }
  const journal = whole.journal && [...whole.journal, ...own];
  const head = own.findLast((event) => event.type === 'head_moved')?.head ?? whole.head;
  // Members of a team act under handles, and claim no files by that.
  return derived({ ...whole, notes: noteEvents(whole.notes, own.filter((event) => !isOfTeams(event))), journal, head }, change, now);
}
