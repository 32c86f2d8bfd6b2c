// Reads the board of a team while it is on the screen: what is not completed by pages, then what follows from the events.

import { isBoard } from './address.js';
import { ApiError } from './api.js';
import { ofTeam, unreadBoard } from './board.js';
import { makeTimer, oneAtATime } from './reads.js';
import { applyToTasks, firstLapse, isHeld, readTask, wantedAfter } from './tasks.js';
import { chosenTeam, isSameName, readTeam } from './teams.js';

/** @typedef {import('./team_types.js').Board} Board */
/** @typedef {import('./team_types.js').Task} Task */

const DEBOUNCE_MS = 250;
/** Before the members are read again for what no event tells: what they have read, and that they were seen. */
const MEMBERS_MS = 10_000;
/** After the time of a claim, before its task is read: it may have been renewed. */
const LAPSE_MS = 500;
const UNANSWERED_MS = 5000;
/** Most tasks of a page, and of the first: more than a screen has, and soon there. */
const PAGE = 500;
const FIRST_PAGE = 100;
/** From so many tasks on that have to be read, the board is read as a whole. */
const MOST_SINGLE = 12;
/** Up to so many completed tasks are read with the others; more on demand. */
const MOST_DONE = 1000;

/** @param {import('./optional_read.js').Part} part */
export function watchBoard({ repoUrl, api, clock, timers, state, dispatch }) {
  let isStopped = false;
  /** The team that is on the screen. @type {string | null} */
  let followed = null;
  let isOutdated = false;
  /** Events since the read of pages began, which these may lack. @type {any[] | null} */
  let journal = null;
  /** After which number the tasks come that may be new. */
  let tail = 0;
  /** @type {Set<string>} */
  const wanted = new Set();
  let hasNew = false;
  let isDoneWanted = false;

  const soon = makeTimer(() => work(), timers);
  const lapses = makeTimer(readLapsed, timers);
  const membersSoon = makeTimer(() => readMembers(), timers);
  const membersLater = makeTimer(() => readMembers(), timers);
  const again = makeTimer(() => (isOutdated ? work() : readMembers()), timers);
  const all = [soon, lapses, membersSoon, membersLater, again];

  /** @param {string} name */
  const isShown = (name) => !isStopped && followed === name && state().board.name === name;

  /** @param {string} name @param {Partial<Board>} change */
  function tell(name, change) {
    if (!isShown(name)) return;
    dispatch({ type: 'board', board: { ...state().board, message: null, ...change } });
    awaitLapse();
  }

  function awaitLapse() {
    const first = firstLapse(state().board.tasks);
    lapses.clear();
    if (first !== null) lapses.set(Math.max(LAPSE_MS, first + LAPSE_MS - clock.now()));
  }

  /** @param {string} name @param {Record<string, string>} query */
  async function page(name, query) {
    const { body } = await api.get('api/tasks', { repo_url: repoUrl, team: name, limit: String(query.after === '0' ? FIRST_PAGE : PAGE), ...query });
    if (isShown(name)) tail = Math.max(tail, body.next ?? 0);
    return { tasks: body.tasks.map(readTask), next: /** @type {number | undefined} */ (body.next) };
  }

  /**
   * @param {string} name
   * @param {Record<string, string>} query
   * @param {(tasks: Task[], next: number | undefined) => void} take
   */
  async function pages(name, query, take) {
    for (let after = '0'; isShown(name); ) {
      const { tasks, next } = await page(name, { ...query, after });
      take(tasks, next);
      if (next === undefined) return;
      after = String(next);
    }
  }

  /** @param {string} name @param {ApiError} error */
  function fail(name, error) {
    if (!isShown(name)) return;
    const { retryAt } = error.problem;
    tell(name, { message: error.message });
    // That a team is gone is said by the list of teams.
    if (error.isUnanswered ? state().connection.phase === 'live' : retryAt !== null) again.set(Math.max(UNANSWERED_MS, (retryAt ?? 0) - clock.now()));
  }

  /** All reads of tasks, one after the other: events that come meanwhile are applied to what is read. */
  const work = oneAtATime(async () => {
    const name = followed;
    if (name === null || isStopped) return;
    if (wanted.size > MOST_SINGLE) isOutdated = true;
    if (!isOutdated && !isDoneWanted && !hasNew && wanted.size === 0) return;
    journal = [];
    try {
      if (isOutdated) await readAll(name);
      else await readSome(name);
      if (isDoneWanted) await readDone(name);
    } catch (error) {
      isOutdated = true;
      if (!(error instanceof ApiError)) throw error;
      fail(name, error);
    } finally {
      const missed = journal;
      journal = null;
      // What was claimed between two reads is in neither.
      if (isShown(name)) note(missed);
      else isOutdated = true;
    }
  });

  /** @param {string} name */
  async function readAll(name) {
    isOutdated = false;
    hasNew = false;
    wanted.clear();
    await Promise.all([readTeamOf(name), readOpen(name)]);
    const { team, done } = state().board;
    if ((team?.doneTasks ?? 0) <= MOST_DONE || done !== 'unread') await readDone(name);
  }

  /** @param {string} name */
  async function readTeamOf(name) {
    membersSoon.clear();
    membersLater.clear();
    const { body } = await api.get(`api/teams/${encodeURIComponent(name)}`, { repo_url: repoUrl });
    tell(name, { team: readTeam(body) });
  }

  /** @param {string} name */
  async function readOpen(name) {
    const isFirst = state().board.phase !== 'whole';
    /** @type {Map<string, Task>} */
    const tasks = new Map();
    // Completed ones are read on their own, and do not change any more.
    for (const task of state().board.tasks.values()) if (task.status === 'completed') tasks.set(task.id, task);
    /** @type {Promise<void> | null} */
    let ready = null;
    /** @param {Task[]} found @param {number | undefined} [next] */
    const take = (found, next) => {
      for (const task of found) tasks.set(task.id, task);
      if (!isFirst || found.length === 0) return;
      tell(name, { phase: 'reading', tasks: applyToTasks(new Map(tasks), journal ?? []) });
      // What is ready may stand behind many others, and is to be seen early. What fails here fails below, too.
      if (next !== undefined) ready ??= page(name, { readiness: 'ready', after: '0' }).then((some) => take(some.tasks.filter((/** @type {Task} */ { id }) => !tasks.has(id))), () => {});
    };
    // Both at once: each is looked for among all tasks.
    await Promise.all(['in_progress', 'pending'].map((status) => pages(name, { status }, take)));
    await ready;
    tell(name, { phase: 'whole', tasks: applyToTasks(tasks, journal ?? []) });
  }

  /** @param {string} name */
  async function readDone(name) {
    isDoneWanted = false;
    if (state().board.done !== 'whole') tell(name, { done: 'reading' });
    await pages(name, { status: 'completed' }, (found) => merge(name, found));
    tell(name, { done: 'whole' });
  }

  /** @param {string} name @param {Task[]} found */
  function merge(name, found) {
    const tasks = new Map(state().board.tasks);
    for (const task of found) tasks.set(task.id, task);
    tell(name, { tasks: applyToTasks(tasks, journal ?? []) });
  }

  /** @param {any[]} events Of the team. */
  function note(events) {
    const needs = wantedAfter(state().board.tasks, events);
    for (const id of needs.ids) wanted.add(id);
    hasNew ||= needs.hasNew;
    if (wanted.size > 0 || hasNew) soon.set(DEBOUNCE_MS);
  }

  /** @param {string} name */
  async function readSome(name) {
    const [ids, isNew] = [[...wanted], hasNew];
    wanted.clear();
    hasNew = false;
    if (isNew) await readNew(name);
    const read = await Promise.all(ids.map((id) => readOne(name, id)));
    const tasks = new Map(state().board.tasks);
    ids.forEach((id, place) => {
      const task = read[place];
      if (task) tasks.set(id, task);
      else tasks.delete(id);
    });
    tell(name, { tasks: applyToTasks(tasks, journal ?? []) });
  }

  /** @param {string} name */
  async function readNew(name) {
    for (let after = tail; isShown(name); ) {
      const { tasks, next } = await page(name, { after: String(after) });
      merge(name, tasks);
      if (next === undefined) return;
      after = next;
    }
  }

  /** @param {string} name @param {string} id @returns {Promise<Task | null>} None if it is gone. */
  async function readOne(name, id) {
    try {
      const { body } = await api.get(`api/tasks/${encodeURIComponent(id)}`, { repo_url: repoUrl, team: name });
      return readTask(body.task);
    } catch (error) {
      if (error instanceof ApiError && error.problem.kind === 'no_repository') return null;
      throw error;
    }
  }

  const readMembers = oneAtATime(async () => {
    const name = followed;
    if (name === null || isStopped) return;
    try {
      await readTeamOf(name);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      fail(name, error);
    }
  });

  /** Claims whose time has passed: renewed meanwhile, or lapsed. */
  function readLapsed() {
    const now = clock.now();
    for (const task of state().board.tasks.values()) if (isHeld(task) && (task.lease.expires ?? Infinity) <= now) wanted.add(task.id);
    if (wanted.size > 0) work();
  }

  /** @returns {string | null} */
  function onScreen() {
    const { teams, place, board } = state();
    if (teams.phase !== 'shown' || !isBoard(place)) return null;
    const isKept = place.team === null && teams.list.some(({ name }) => board.name !== null && isSameName(name, board.name));
    return isKept ? board.name : chosenTeam(teams, place.team);
  }

  return {
    /** Sees which board is on the screen, and reads it if it is another than before. */
    follow() {
      if (isStopped) return;
      const name = onScreen();
      const isOther = name !== followed;
      followed = name;
      if (name === null) return;
      if (state().board.name !== name) {
        all.forEach((timer) => timer.clear());
        tail = 0;
        isOutdated = true;
        isDoneWanted = false;
        dispatch({ type: 'board', board: unreadBoard(name) });
      }
      if (isOutdated) work();
      else if (isOther) membersSoon.set(0);
    },
    /** The events since the last read may be lost. */
    outdate() {
      isOutdated = true;
    },
    wake() {
      if (followed !== null) membersSoon.set(0);
    },
    /** Completed tasks, where there are too many to be read with the others. */
    async readDone() {
      isDoneWanted = true;
      await work();
    },
    /** @param {any[]} events About teams. */
    heard(events) {
      const own = ofTeam(state().board.name, events);
      if (own.length === 0 || isStopped) return;
      if (followed === null) {
        isOutdated = true;
        return;
      }
      if (journal) journal.push(...own);
      else note(own);
      awaitLapse();
      if (own.some(({ type, recipient_count: count, recipients }) => type === 'team_changed' || type === 'shutdown_changed' || count > (recipients?.length ?? 0))) membersSoon.set(DEBOUNCE_MS);
      else membersLater.set(MEMBERS_MS);
    },
    stop() {
      isStopped = true;
      all.forEach((timer) => timer.clear());
    },
  };
}
