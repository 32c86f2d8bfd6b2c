// The state of the page, and how each action changes it. Functions have no side effects.

import { agentsOf, noteEvents } from './agents.js';
import { mergeActivity, MAX_ACTIVITY, readActivity } from './activity.js';
import { applyToBoard, unreadBoard } from './board.js';
import { readGraph } from './graph.js';
import { holderKey } from './holder.js';
import { openRefusals } from './intent_refusals.js';
import { applyToIntents, unknownIntents } from './intents.js';
import { unreadLedger } from './ledger.js';
import { areLocksWhole, isFollowed } from './lock_knowledge.js';
import { applyEvents, isPartial, unexpired, withKnown } from './locks.js';
import { unreadMail } from './messages.js';
import { blockedAmong, neighborsOf } from './neighbors.js';
import { isOfTeams, unknownTeams } from './teams.js';
import { applyToWaits } from './waits.js';

/** @import { Connection, Place, Problem, State } from './types.js' */

/**
 * The state, and the facts from which it is derived.
 * @typedef {object} Whole
 * @property {State} state
 * @property {import('./agents.js').Notes} notes
 * @property {any[] | null} journal Events since the page requested the locks; `null` if no request is in progress.
 * @property {boolean} isJournalWhole Whether the journal has all changes of locks since.
 * @property {string | null} head The newest head that an event has named.
 */

/**
 * @typedef {{ type: 'place', place: Place }
 *   | { type: 'graph', body: import('./graph.js').GraphBody, now: number }
 *   | { type: 'locks_asked' }
 *   | { type: 'locks_failed' }
 *   | { type: 'locks_missed' }
 *   | { type: 'locks', locks: import('./locks.js').Locks, waits: import('./waits.js').Wait[],
 *       pending: import('./pending.js').Pending[], now: number }
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
 * @returns {Whole} Before anything was read.
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
  const withState = (change) => ({ ...whole, state: { ...state, ...change } });
  switch (action.type) {
    case 'place':
      return withState({ place: action.place });
    case 'graph':
      return withGraph(whole, action.body, action.now);
    case 'locks_asked':
      return { ...whole, journal: [], isJournalWhole: true };
    case 'locks_failed':
      return { ...whole, journal: null };
    case 'locks_missed':
      return withMissedLocks(whole);
    case 'locks':
      return withLocks(whole, action);
    case 'events':
      return withEvents(whole, action);
    case 'activity':
      return withActivity(whole, action);
    case 'intents':
      return derive(whole, { intents: action.intents }, action.now);
    case 'ledger':
      return withState({ ledger: action.ledger });
    case 'teams':
      return withState({ teams: action.teams });
    case 'board':
      return withState({ board: action.board });
    case 'work':
      return withState({ work: action.work });
    case 'mail':
      return withState({ mail: action.mail });
    case 'connection':
      return withConnection(whole, { ...state.connection, ...action.change }, action.now);
    case 'problem':
      return withState({ problem: action.problem });
    case 'session':
      return withState({ isSignedIn: action.isSignedIn, needsToken: action.needsToken ?? state.needsToken });
    case 'caller':
      return withState({ caller: action.caller });
    case 'force_refused':
      return withState({ mayForce: false });
    case 'tick':
      return derive(whole, { locks: unexpired(state.locks, action.now) }, action.now, true);
  }
}

/**
 * Changes the state, and the fields that are derived from the changed ones.
 * @param {Whole} whole
 * @param {Partial<State>} change
 * @param {number} now
 * @param {boolean} [isTimed] Whether time alone may have changed the agents.
 * @returns {Whole}
 */
function derive(whole, change, now, isTimed = false) {
  const { state } = whole;
  const next = { ...state, ...change };
  const haveLocksChanged = next.locks !== state.locks;
  const haveNeighborsChanged = haveLocksChanged || next.graph !== state.graph;
  if (haveNeighborsChanged) next.neighbors = neighborsOf(next.graph, next.locks);
  if (haveNeighborsChanged || next.policy !== state.policy) {
    next.blocked = blockedAmong(next.neighbors, next.locks, next.policy);
  }
  if (haveLocksChanged || isTimed || change.activity || next.waits !== state.waits) {
    next.agents = agentsOf(next.locks, next.waits, whole.notes, now);
    next.hasSeveralLogins = new Set([...next.agents, ...whole.notes.values()].map(({ user }) => user)).size > 1;
  }
  next.refusals = openRefusals(whole.notes, state.refusals);
  return { ...whole, state: next };
}

/** @param {Whole} whole @returns {Whole} After a change of locks that no event describes completely. */
function withMissedLocks(whole) {
  return { ...whole, isJournalWhole: false, state: { ...whole.state, areLocksMissed: true } };
}

/**
 * @param {Whole} whole
 * @param {Extract<Action, { type: 'locks' }>} action
 * @returns {Whole}
 */
function withLocks(whole, action) {
  const { state, isJournalWhole } = whole;
  const { now, pending } = action;
  // The list may be older than the events that arrived while the page read it.
  const journal = whole.journal ?? [];
  const locks = unexpired(applyEvents(withKnown(state.locks, action.locks), journal), now);
  const waits = applyToWaits(action.waits, journal);
  const areLocksMissed = state.areLocksMissed && !isJournalWhole;
  const change = { locks, waits, pending, locksReadAt: now, areLocksMissed, shownAt: now };
  return derive({ ...whole, journal: null }, change, now);
}

/**
 * @param {Whole} whole
 * @param {Extract<Action, { type: 'activity' }>} action
 * @returns {Whole}
 */
function withActivity(whole, { events, isCaughtUp, hasOlder: hasOlderEvents, now }) {
  const { state, notes } = whole;
  const activity = mergeActivity(state.activity, events.map((event) => readActivity(event, isCaughtUp)));
  const hasOlder = (hasOlderEvents ?? state.hasOlder) && activity.length < MAX_ACTIVITY;
  // For holders that already have a note, these events are older, and say nothing new.
  const unnoted = [...events].sort((one, other) => one.time - other.time)
    .filter((event) => !isOfTeams(event) && !notes.has(holderKey(event.user, event.agent_id)));
  const change = { activity, isActivityRead: true, hasOlder };
  return derive({ ...whole, notes: noteEvents(notes, unnoted) }, change, now);
}

/**
 * @param {Whole} whole
 * @param {Connection} connection
 * @param {number} now
 * @returns {Whole}
 */
function withConnection(whole, connection, now) {
  // After a break, the page has missed events, and the first list may be older than the first event.
  const isBack = isFollowed(connection) && !isFollowed(whole.state.connection);
  const next = isBack ? withMissedLocks(whole) : whole;
  const state = { ...next.state, connection };
  return { ...next, state: { ...state, shownAt: areLocksWhole(state) ? now : state.shownAt } };
}

/**
 * @param {Whole} whole
 * @param {import('./graph.js').GraphBody} body
 * @param {number} now
 */
function withGraph(whole, body, now) {
  const { graph: before } = whole.state;
  const isSame = before !== null && before.version === body.version && before.files.length === body.nodes.length;
  return derive(whole, {
    graph: isSame ? before : readGraph(body),
    graphState: body.state,
    progress: body.progress ?? null,
    failure: body.failure ?? null,
    policy: body.policy ?? null,
  }, now);
}

/**
 * @param {Whole} before
 * @param {Extract<Action, { type: 'events' }>} action Events up to `caughtUpTo` happened while the page was offline.
 * @returns {Whole}
 */
function withEvents(before, { events, caughtUpTo, now }) {
  const { branch } = before.state.place;
  const branchEvents = events.filter((event) => event.branch === undefined || event.branch === branch);
  const whole = branchEvents.some(isPartial) ? withMissedLocks(before) : before;
  const { state } = whole;
  /** @type {Partial<State>} */
  const change = {
    locks: unexpired(applyEvents(state.locks, branchEvents), now),
    waits: applyToWaits(state.waits, branchEvents),
    intents: applyToIntents(state.intents, branchEvents),
    board: applyToBoard(state.board, branchEvents),
  };
  if (areLocksWhole(state)) change.shownAt = now;
  const entries = branchEvents.filter(({ type }) => type !== 'graph_progress').map((event) => readActivity(event));
  if (entries.length > 0) {
    for (const entry of entries) entry.isCaughtUp = entry.at <= caughtUpTo;
    change.activity = mergeActivity(state.activity, entries);
    if (change.activity.length === MAX_ACTIVITY) change.hasOlder = false;
  }
  for (const event of branchEvents) {
    if (event.type === 'head_moved' && state.graph && event.head !== state.graph.version) change.graphState = 'stale';
    if (event.type === 'graph_progress') {
      const { files, wanted, scanned } = event;
      change.progress = { files, wanted, scanned };
      change.graphState = state.graph ? 'stale' : 'building';
    }
    if (event.type === 'graph_update') change.progress = null;
  }
  const journal = whole.journal && [...whole.journal, ...branchEvents];
  const head = branchEvents.findLast((event) => event.type === 'head_moved')?.head ?? whole.head;
  // Members of a team act under handles, which are not holders.
  const notes = noteEvents(whole.notes, branchEvents.filter((event) => !isOfTeams(event)));
  return derive({ ...whole, notes, journal, head }, change, now);
}
