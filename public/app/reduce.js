// The state of the page, and how each action changes it. Functions have no side effects.

import { MAX_ACTIVITY, mergeActivity, readActivity } from './activity.js';
import { agentsOf, noteEvents } from './agents.js';
import { applyToBoard, emptyBoard } from './board.js';
import { readGraph } from './graph.js';
import { holderKey } from './holder.js';
import { openRefusals } from './intent_refusals.js';
import { applyToIntents, emptyIntents } from './intents.js';
import { emptyLedger } from './ledger.js';
import { areLocksComplete, isFollowed } from './lock_knowledge.js';
import { applyToLocks, dropExpired, isPartial, mergeListedLocks } from './locks.js';
import { emptyMail } from './messages.js';
import { blockedNeighbors, neighborsOf } from './neighbors.js';
import { emptyTeams, isTeamEvent } from './teams.js';
import { applyToWaits } from './waits.js';

/** @import { Connection, Place, Problem, State } from './types.js' */

/**
 * The state, and the facts from which it is derived.
 * @typedef {object} FullState
 * @property {State} state
 * @property {import('./agents.js').Notes} notes
 * @property {any[] | null} journal Events since the page requested the locks; `null` if no request is in progress.
 * @property {boolean} isJournalComplete Whether the journal has all changes of locks since.
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
 * @returns {FullState} Before anything was read.
 */
export function initialState(place, isSignedIn, needsToken = false) {
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
      intents: emptyIntents(),
      refusals: [],
      ledger: emptyLedger(),
      teams: emptyTeams(),
      board: emptyBoard(),
      work: null,
      mail: emptyMail(),
      connection: { phase: 'connecting', since: 0, isLate: false, lastMessageAt: null, retryAt: null },
      problem: null,
      shownAt: null,
      isSignedIn,
      needsToken,
      caller: null,
      mayForce: true,
    },
    notes: new Map(),
    journal: null,
    isJournalComplete: true,
    head: null,
  };
}

/**
 * @param {FullState} current
 * @param {Action} action
 * @returns {FullState} Parts that do not change stay the same objects.
 */
export function reduce(current, action) {
  const { state } = current;
  /** @param {Partial<State>} change */
  const withState = (change) => ({ ...current, state: { ...state, ...change } });
  switch (action.type) {
    case 'place':
      return withState({ place: action.place });
    case 'graph':
      return withGraph(current, action.body, action.now);
    case 'locks_asked':
      return { ...current, journal: [], isJournalComplete: true };
    case 'locks_failed':
      return { ...current, journal: null };
    case 'locks_missed':
      return withMissedLocks(current);
    case 'locks':
      return withLocks(current, action);
    case 'events':
      return withEvents(current, action);
    case 'activity':
      return withActivity(current, action);
    case 'intents':
      return derive(current, { intents: action.intents }, action.now);
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
      return withConnection(current, { ...state.connection, ...action.change }, action.now);
    case 'problem':
      return withState({ problem: action.problem });
    case 'session':
      return withState({ isSignedIn: action.isSignedIn, needsToken: action.needsToken ?? state.needsToken });
    case 'caller':
      return withState({ caller: action.caller });
    case 'force_refused':
      return withState({ mayForce: false });
    case 'tick':
      return derive(current, { locks: dropExpired(state.locks, action.now) }, action.now, true);
  }
}

/**
 * Changes the state, and the fields that are derived from the changed ones.
 * @param {FullState} current
 * @param {Partial<State>} change
 * @param {number} now
 * @param {boolean} [isTimed] Whether time alone may have changed the agents.
 * @returns {FullState}
 */
function derive(current, change, now, isTimed = false) {
  const { state } = current;
  const next = { ...state, ...change };
  const haveLocksChanged = next.locks !== state.locks;
  const haveNeighborsChanged = haveLocksChanged || next.graph !== state.graph;
  if (haveNeighborsChanged) next.neighbors = neighborsOf(next.graph, next.locks);
  if (haveNeighborsChanged || next.policy !== state.policy) {
    next.blocked = blockedNeighbors(next.neighbors, next.locks, next.policy);
  }
  if (haveLocksChanged || isTimed || change.activity || next.waits !== state.waits) {
    next.agents = agentsOf(next.locks, next.waits, current.notes, now);
    next.hasSeveralLogins = new Set([...next.agents, ...current.notes.values()].map(({ user }) => user)).size > 1;
  }
  next.refusals = openRefusals(current.notes, state.refusals);
  return { ...current, state: next };
}

/** @param {FullState} current @returns {FullState} After a change of locks that no event describes completely. */
function withMissedLocks(current) {
  return { ...current, isJournalComplete: false, state: { ...current.state, areLocksMissed: true } };
}

/** @param {FullState} current @param {Extract<Action, { type: 'locks' }>} action @returns {FullState} */
function withLocks(current, action) {
  const { state, isJournalComplete } = current;
  const { now, pending } = action;
  // The list may be older than the events that arrived while the page read it.
  const journal = current.journal ?? [];
  const locks = dropExpired(applyToLocks(mergeListedLocks(state.locks, action.locks), journal), now);
  const waits = applyToWaits(action.waits, journal);
  const areLocksMissed = state.areLocksMissed && !isJournalComplete;
  const change = { locks, waits, pending, locksReadAt: now, areLocksMissed, shownAt: now };
  return derive({ ...current, journal: null }, change, now);
}

/** @param {FullState} current @param {Extract<Action, { type: 'activity' }>} action @returns {FullState} */
function withActivity(current, { events, isCaughtUp, hasOlder: hasOlderEvents, now }) {
  const { state, notes } = current;
  const activity = mergeActivity(state.activity, events.map((event) => readActivity(event, isCaughtUp)));
  const hasOlder = (hasOlderEvents ?? state.hasOlder) && activity.length < MAX_ACTIVITY;
  // For holders that already have a note, these events are older, and say nothing new.
  const unnoted = [...events].sort((a, b) => a.time - b.time)
    .filter((event) => !isTeamEvent(event) && !notes.has(holderKey(event.user, event.agent_id)));
  const change = { activity, isActivityRead: true, hasOlder };
  return derive({ ...current, notes: noteEvents(notes, unnoted) }, change, now);
}

/**
 * @param {FullState} current
 * @param {Connection} connection
 * @param {number} now
 * @returns {FullState}
 */
function withConnection(current, connection, now) {
  // After a break, the page has missed events, and the first list may be older than the first event.
  const isBack = isFollowed(connection) && !isFollowed(current.state.connection);
  const next = isBack ? withMissedLocks(current) : current;
  const state = { ...next.state, connection };
  return { ...next, state: { ...state, shownAt: areLocksComplete(state) ? now : state.shownAt } };
}

/** @param {FullState} current @param {import('./graph.js').GraphBody} body @param {number} now */
function withGraph(current, body, now) {
  const { graph: before } = current.state;
  const isSame = before !== null && before.version === body.version && before.files.length === body.nodes.length;
  return derive(current, {
    graph: isSame ? before : readGraph(body),
    graphState: body.state,
    progress: body.progress ?? null,
    failure: body.failure ?? null,
    policy: body.policy ?? null,
  }, now);
}

/**
 * @param {FullState} before
 * @param {Extract<Action, { type: 'events' }>} action Events up to `caughtUpTo` happened while the page was offline.
 * @returns {FullState}
 */
function withEvents(before, { events, caughtUpTo, now }) {
  const { branch } = before.state.place;
  const branchEvents = events.filter((event) => event.branch === undefined || event.branch === branch);
  const current = branchEvents.some(isPartial) ? withMissedLocks(before) : before;
  const { state } = current;
  /** @type {Partial<State>} */
  const change = {
    locks: dropExpired(applyToLocks(state.locks, branchEvents), now),
    waits: applyToWaits(state.waits, branchEvents),
    intents: applyToIntents(state.intents, branchEvents),
    board: applyToBoard(state.board, branchEvents),
  };
  if (areLocksComplete(state)) change.shownAt = now;
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
  const journal = current.journal && [...current.journal, ...branchEvents];
  const head = branchEvents.findLast((event) => event.type === 'head_moved')?.head ?? current.head;
  // Members of a team act under handles, which are not holders.
  const notes = noteEvents(current.notes, branchEvents.filter((event) => !isTeamEvent(event)));
  return derive({ ...current, notes, journal, head }, change, now);
}
