// Reads the board of a team while it is on the screen: first the open tasks, in pages, then what the events require.

import { isBoard } from './address.js';
import { ApiError } from './api.js';
import { emptyBoard, eventsOfTeam } from './board.js';
import { coalesceCalls, makeTimer } from './scheduling.js';
import { applyToTasks, firstClaimExpiry, isHeld, readTask, tasksToRead } from './tasks.js';
import { isSameName, readTeam, selectTeam } from './teams.js';

/** @import { Board, Task } from './team_types.js' */

const DEBOUNCE_MS = 250;
/** Delay before the members are read again. No event says which messages they have read, or that they were seen. */
const MEMBERS_MS = 10_000;
/** Delay between the expiry of a claim and the read of its task: the claim may have been renewed. */
const EXPIRY_MS = 500;
/** Maximum number of tasks on a page. The first page is small, so that it arrives early; it still fills a screen. */
const PAGE = 500;
const FIRST_PAGE = 100;
/** If more tasks than this have to be read, the whole board is read. */
const MAX_SINGLE_READS = 12;
/** Up to this many completed tasks are read with the others; more are read on demand. */
const MAX_DONE = 1000;

/** @param {import('./optional_read.js').WatchContext} context */
export function watchBoard({ repoUrl, api, clock, timers, state, dispatch }) {
  let isStopped = false;
  /** The team whose board is on the screen. @type {string | null} */
  let followed = null;
  let isOutdated = false;
  /** Events since the read of pages began. The pages may lack them. @type {any[] | null} */
  let journal = null;
  /** The number of the last task that was read. New tasks have higher numbers. */
  let lastNumber = 0;
  /** Ids of the tasks to read. @type {Set<string>} */
  const outdatedIds = new Set();
  let hasNew = false;
  let isDoneWanted = false;

  const soon = makeTimer(() => readOutdated(), timers);
  const expiryTimer = makeTimer(readExpired, timers);
  const membersSoon = makeTimer(() => readMembers(), timers);
  const membersLater = makeTimer(() => readMembers(), timers);
  const again = makeTimer(() => (isOutdated ? readOutdated() : readMembers()), timers);
  const allTimers = [soon, expiryTimer, membersSoon, membersLater, again];

  /** @param {string} name */
  const isShown = (name) => !isStopped && followed === name && state().board.name === name;

  /** @param {string} name @param {Partial<Board>} change */
  function updateBoard(name, change) {
    if (!isShown(name)) return;
    dispatch({ type: 'board', board: { ...state().board, message: null, ...change } });
    awaitExpiry();
  }

  /** @param {string} name @param {Map<string, Task>} tasks @param {Partial<Board>} [change] */
  function setTasks(name, tasks, change) {
    updateBoard(name, { ...change, tasks: applyToTasks(tasks, journal ?? []) });
  }

  function awaitExpiry() {
    const first = firstClaimExpiry(state().board.tasks);
    expiryTimer.clear();
    if (first !== null) expiryTimer.set(Math.max(EXPIRY_MS, first + EXPIRY_MS - clock.now()));
  }

  /** @param {string} name @param {Record<string, string>} query */
  async function readPage(name, query) {
    const limit = String(query.after === '0' ? FIRST_PAGE : PAGE);
    const { body } = await api.get('api/tasks', { repo_url: repoUrl, team: name, limit, ...query });
    if (isShown(name)) lastNumber = Math.max(lastNumber, body.next ?? 0);
    return {
      tasks: /** @type {Task[]} */ (body.tasks.map(readTask)),
      next: /** @type {number | undefined} */ (body.next),
    };
  }

  /**
   * @param {string} name
   * @param {Record<string, string>} query
   * @param {(tasks: Task[], next: number | undefined) => void} onPage
   * @param {string} [first] The pages begin after the task with this number.
   */
  async function readPages(name, query, onPage, first = '0') {
    for (let after = first; isShown(name); ) {
      const { tasks, next } = await readPage(name, { ...query, after });
      onPage(tasks, next);
      if (next === undefined) return;
      after = String(next);
    }
  }

  /** @param {string} name @param {ApiError} error */
  function handleFailure(name, error) {
    if (!isShown(name)) return;
    updateBoard(name, { message: error.message });
    // The list of teams says whether the team still exists.
    const delay = error.retryDelay(state().connection, clock.now());
    if (delay !== null) again.set(delay);
  }

  /** Reads tasks one read after the other. Events that arrive during a read are applied to its result. */
  const readOutdated = coalesceCalls(async () => {
    const name = followed;
    if (name === null || isStopped) return;
    if (outdatedIds.size > MAX_SINGLE_READS) isOutdated = true;
    if (!isOutdated && !isDoneWanted && !hasNew && outdatedIds.size === 0) return;
    journal = [];
    try {
      if (isOutdated) await readAll(name);
      else await readSome(name);
      if (isDoneWanted) await readCompleted(name);
    } catch (error) {
      isOutdated = true;
      if (!(error instanceof ApiError)) throw error;
      handleFailure(name, error);
    } finally {
      const missed = journal;
      journal = null;
      // A task that was claimed between two reads is in neither of them.
      if (isShown(name)) noteOutdated(missed);
      else isOutdated = true;
    }
  });

  /** @param {string} name */
  async function readAll(name) {
    isOutdated = false;
    hasNew = false;
    outdatedIds.clear();
    await Promise.all([readTeamOf(name), readOpen(name)]);
    const { team, done } = state().board;
    if ((team?.doneTasks ?? 0) <= MAX_DONE || done !== 'unread') await readCompleted(name);
  }

  /** @param {string} name */
  async function readTeamOf(name) {
    membersSoon.clear();
    membersLater.clear();
    const { body } = await api.get(`api/teams/${encodeURIComponent(name)}`, { repo_url: repoUrl });
    updateBoard(name, { team: readTeam(body) });
  }

  /** @param {string} name */
  async function readOpen(name) {
    const isFirst = state().board.phase !== 'complete';
    /** @type {Map<string, Task>} */
    const tasks = new Map();
    // Completed tasks no longer change, and have a separate read.
    for (const task of state().board.tasks.values()) if (task.status === 'completed') tasks.set(task.id, task);
    /** @type {Promise<void> | null} */
    let readyTasks = null;
    /** @param {Task[]} page @param {number | undefined} [next] */
    const addPage = (page, next) => {
      for (const task of page) tasks.set(task.id, task);
      if (!isFirst || page.length === 0) return;
      setTasks(name, new Map(tasks), { phase: 'reading' });
      // Many other tasks may come before the ready ones, which should show early. If this read fails, the reads below
      // fail too.
      if (next !== undefined) readyTasks ??= readReady();
    };
    const readReady = () => readPage(name, { readiness: 'ready', after: '0' })
      .then((page) => addPage(page.tasks.filter(({ id }) => !tasks.has(id))), () => {});
    // Both at once: for each, the server searches all tasks.
    await Promise.all(['in_progress', 'pending'].map((status) => readPages(name, { status }, addPage)));
    await readyTasks;
    setTasks(name, tasks, { phase: 'complete' });
  }

  /** @param {string} name */
  async function readCompleted(name) {
    isDoneWanted = false;
    if (state().board.done !== 'complete') updateBoard(name, { done: 'reading' });
    await readPages(name, { status: 'completed' }, (page) => addTasks(name, page));
    updateBoard(name, { done: 'complete' });
  }

  /** @param {string} name @param {Task[]} added */
  function addTasks(name, added) {
    const tasks = new Map(state().board.tasks);
    for (const task of added) tasks.set(task.id, task);
    setTasks(name, tasks);
  }

  /** @param {any[]} events Of the team. */
  function noteOutdated(events) {
    const unread = tasksToRead(state().board.tasks, events);
    for (const id of unread.ids) outdatedIds.add(id);
    hasNew ||= unread.hasNew;
    if (outdatedIds.size > 0 || hasNew) soon.set(DEBOUNCE_MS);
  }

  /** @param {string} name */
  async function readSome(name) {
    const [ids, hadNew] = [[...outdatedIds], hasNew];
    outdatedIds.clear();
    hasNew = false;
    if (hadNew) await readPages(name, {}, (page) => addTasks(name, page), String(lastNumber));
    const results = await Promise.all(ids.map((id) => readOne(name, id)));
    const tasks = new Map(state().board.tasks);
    ids.forEach((id, index) => {
      const task = results[index];
      if (task) tasks.set(id, task);
      else tasks.delete(id);
    });
    setTasks(name, tasks);
  }

  /** @param {string} name @param {string} id @returns {Promise<Task | null>} `null` if the task no longer exists. */
  async function readOne(name, id) {
    try {
      const { body } = await api.get(`api/tasks/${encodeURIComponent(id)}`, { repo_url: repoUrl, team: name });
      return readTask(body.task);
    } catch (error) {
      if (error instanceof ApiError && error.problem.kind === 'no_repository') return null;
      throw error;
    }
  }

  const readMembers = coalesceCalls(async () => {
    const name = followed;
    if (name === null || isStopped) return;
    try {
      await readTeamOf(name);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      handleFailure(name, error);
    }
  });

  /** Reads the tasks whose claims seem to have expired: they may have been renewed. */
  function readExpired() {
    const now = clock.now();
    for (const task of state().board.tasks.values()) {
      if (isHeld(task) && (task.lease.expires ?? Infinity) <= now) outdatedIds.add(task.id);
    }
    if (outdatedIds.size > 0) readOutdated();
  }

  /** @returns {string | null} */
  function teamOnScreen() {
    const { teams, place, board } = state();
    if (teams.phase !== 'shown' || !isBoard(place)) return null;
    const isBoardListed = teams.list.some(({ name }) => board.name !== null && isSameName(name, board.name));
    return place.team === null && isBoardListed ? board.name : selectTeam(teams, place.team);
  }

  return {
    /** Switches to the board on the screen, and reads it if it is another one than before. */
    syncSelection() {
      if (isStopped) return;
      const name = teamOnScreen();
      const isOther = name !== followed;
      followed = name;
      if (name === null) return;
      if (state().board.name !== name) {
        allTimers.forEach((timer) => timer.clear());
        lastNumber = 0;
        isOutdated = true;
        isDoneWanted = false;
        dispatch({ type: 'board', board: emptyBoard(name) });
      }
      if (isOutdated) readOutdated();
      else if (isOther) membersSoon.set(0);
    },
    /** Called when events since the last read may be lost. */
    markOutdated() {
      isOutdated = true;
    },
    wake() {
      if (followed !== null) membersSoon.set(0);
    },
    /** Reads the completed tasks if they are too many to be read with the others. */
    async readCompletedTasks() {
      isDoneWanted = true;
      await readOutdated();
    },
    /** @param {any[]} events About teams. */
    onEvents(events) {
      const teamEvents = eventsOfTeam(state().board.name, events);
      if (teamEvents.length === 0 || isStopped) return;
      if (followed === null) {
        isOutdated = true;
        return;
      }
      if (journal) journal.push(...teamEvents);
      else noteOutdated(teamEvents);
      awaitExpiry();
      // The event of a message may name only some of its recipients.
      const changesMembers = teamEvents.some(({ type, recipient_count: count, recipients }) =>
        type === 'team_changed' || type === 'shutdown_changed' || count > (recipients?.length ?? 0));
      if (changesMembers) membersSoon.set(DEBOUNCE_MS);
      else membersLater.set(MEMBERS_MS);
    },
    stop() {
      isStopped = true;
      allTimers.forEach((timer) => timer.clear());
    },
  };
}
