// Tasks as the page shows them, from `GET /api/tasks` and from events. Functions change no argument.

import { timeOf } from './locks.js';
import { parseTime } from './teams.js';

/** @import { Column, Task, TaskDetails } from './team_types.js' */
/** @typedef {Map<string, Task>} Tasks By id. */

/** After this number of expired claims, a task is held back until its creator or the leader clears them. */
const MAX_LAPSES = 3;
export const PRIORITIES = { high: 0, normal: 1, low: 2 };
/** @type {Column[]} */
export const BOARD_COLUMNS = ['blocked', 'ready', 'in_progress', 'done'];

/** @param {any} view A task of `GET /api/tasks`. @returns {Task} */
export function readTask(view) {
  const { lease } = view;
  return {
    id: view.id,
    rank: Number(/^t(\d{1,15})$/.exec(view.id)?.[1] ?? Infinity),
    title: view.title,
    priority: view.priority,
    status: view.status,
    owner: view.owner ?? null,
    previousOwner: view.previousOwner ?? null,
    createdBy: view.createdBy,
    createdAt: Date.parse(view.createdAt),
    claimedAt: parseTime(view.claimedAt),
    completedAt: parseTime(view.completedAt),
    assignee: view.assignee ?? null,
    reservedUntil: parseTime(view.reservedUntil),
    dependencies: view.dependencies,
    met: view.metDependencies,
    blocks: view.blocks,
    blockCount: view.blockCount,
    files: view.files,
    branch: view.branch ?? null,
    intentId: view.intent_id ?? null,
    lease: { state: lease.state, expires: parseTime(lease.expires), token: lease.token ?? 0 },
    lapses: view.lapses,
  };
}

/** @param {any} body Of `GET /api/tasks/{id}`. @returns {TaskDetails} */
export function readTaskDetails(body) {
  const { task } = body;
  const notes = task.notes ?? [];
  const results = body.dependency_results ?? [];
  return {
    ...readTask(task),
    description: task.description ?? '',
    notes: notes.map((/** @type {any} */ { by = '', time, text }) => ({ by, at: Date.parse(time), text })),
    result: task.result ?? '',
    results: new Map(results.map((/** @type {any} */ { id, result }) => [id, result])),
  };
}

/** @param {Task} task @returns {boolean} Whether a member holds a claim of it. */
export function isHeld({ status, lease }) {
  return status === 'in_progress' && lease.state === 'held';
}

/** @param {Task} task @returns {boolean} */
export function isHeldBack(task) {
  return task.status !== 'completed' && !isHeld(task) && task.lapses >= MAX_LAPSES;
}

/**
 * @param {Task} task
 * @returns {Column} By what a member can do with it: if its claim has expired, a task is ready whatever its status.
 */
export function columnOf(task) {
  if (task.status === 'completed') return 'done';
  if (isHeld(task)) return 'in_progress';
  return task.dependencies.length > 0 || isHeldBack(task) ? 'blocked' : 'ready';
}

/** The order in which the server hands out tasks. @param {Task} a @param {Task} b */
function byPriority(a, b) {
  return PRIORITIES[a.priority] - PRIORITIES[b.priority] || byAge(a, b);
}

/** @param {Task} a @param {Task} b */
function byAge(a, b) {
  return a.rank - b.rank || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

/** @type {Record<Column, (one: Task, other: Task) => number>} */
const ORDERS = {
  // Tasks that are held back come first: they wait for a person.
  blocked: (a, b) => Number(isHeldBack(b)) - Number(isHeldBack(a)) || byPriority(a, b),
  ready: byPriority,
  in_progress: (a, b) => (a.claimedAt ?? 0) - (b.claimedAt ?? 0) || byAge(a, b),
  done: (a, b) => (b.completedAt ?? 0) - (a.completedAt ?? 0) || -byAge(a, b),
};

/**
 * @param {Tasks} tasks
 * @param {(task: Task) => boolean} isShown
 * @returns {Record<Column, Task[]>} The longest in progress, and the last completed, come first.
 */
export function columnsOf(tasks, isShown) {
  /** @type {Record<Column, Task[]>} */
  const columns = { blocked: [], ready: [], in_progress: [], done: [] };
  for (const task of tasks.values()) if (isShown(task)) columns[columnOf(task)].push(task);
  for (const column of BOARD_COLUMNS) columns[column].sort(ORDERS[column]);
  return columns;
}

/** @param {Task} task @returns {string} The text that a search matches. */
export function searchTextOf({ id, title, owner, assignee, files }) {
  return `${id} ${title} ${owner ?? ''} ${assignee ?? ''} ${files.join(' ')}`;
}

/** @param {Tasks} tasks @returns {number | null} When the first claim expires, as far as the page knows. */
export function firstClaimExpiry(tasks) {
  let first = Infinity;
  for (const task of tasks.values()) if (isHeld(task)) first = Math.min(first, task.lease.expires ?? Infinity);
  return first === Infinity ? null : first;
}

/**
 * Applies what the events themselves say. Claims differ in their tokens, which only grow, so that a late or repeated
 * event changes nothing.
 * @param {Tasks} tasks
 * @param {any[]} events Those of the team.
 * @returns {Tasks} The same object if nothing changes.
 */
export function applyToTasks(tasks, events) {
  let next = tasks;
  const mutable = () => {
    if (next === tasks) next = new Map(tasks);
    return next;
  };
  const put = (/** @type {Task} */ task) => mutable().set(task.id, task);
  /** Removes a dependency from all tasks. @param {string} id @param {boolean} isMet */
  const removeDependency = (id, isMet) => {
    for (const dependent of dependentsOf(tasks).get(id) ?? []) {
      const task = next.get(dependent);
      if (!task?.dependencies.includes(id)) continue;
      const dependencies = task.dependencies.filter((each) => each !== id);
      put({ ...task, dependencies, met: isMet ? [...task.met, id] : task.met });
    }
  };
  for (const event of events) {
    const task = next.get(event.task);
    if (event.type === 'task_deleted') {
      if (!task) continue;
      removeDependency(event.task, false);
      mutable().delete(event.task);
    } else if (event.type === 'task_completed') {
      removeDependency(event.task, true);
      if (task && task.status !== 'completed') put({ ...task, ...completion(event) });
    } else if (task && task.status !== 'completed') {
      const change = changeOf(task, event);
      if (change) put({ ...task, ...change });
    }
  }
  return next;
}

/** @param {any} event A `task_completed`. @returns {Partial<Task>} */
function completion(event) {
  return {
    status: 'completed',
    owner: event.handle ?? null,
    completedAt: timeOf(event),
    previousOwner: null,
    assignee: null,
    reservedUntil: null,
    lease: { state: 'none', expires: null, token: 0 },
  };
}

/** @param {Task} task @param {any} event @returns {Partial<Task> | null} */
function changeOf({ lease, lapses }, event) {
  const { type, handle = null, token = 0, expiry_ms: expires = null, title } = event;
  const isSameClaim = token === lease.token;
  if (type === 'task_claimed' && (token > lease.token || (isSameClaim && lease.state === 'held'))) {
    const knownExpiry = isSameClaim ? lease.expires ?? 0 : 0;
    return {
      status: 'in_progress',
      owner: handle,
      previousOwner: null,
      assignee: null,
      reservedUntil: null,
      claimedAt: timeOf(event),
      lease: { state: 'held', expires: Math.max(expires ?? 0, knownExpiry), token },
    };
  }
  const isEnd = type === 'task_released' || type === 'task_lapsed';
  if (isEnd && token >= lease.token && !(isSameClaim && lease.state !== 'held')) {
    const isLapse = type === 'task_lapsed';
    return {
      status: 'in_progress',
      owner: null,
      previousOwner: handle,
      lapses: lapses + (isLapse ? 1 : 0),
      lease: { state: isLapse ? 'lapsed' : 'released', expires: null, token },
    };
  }
  return type === 'task_updated' && title !== undefined ? { title } : null;
}

/**
 * @param {Tasks} tasks With the events applied.
 * @param {any[]} events
 * @returns {{ ids: Set<string>, hasNew: boolean }} The tasks to read, because the events do not say everything.
 *   `hasNew`: the page also has to read new tasks.
 */
export function tasksToRead(tasks, events) {
  /** @type {Set<string>} */
  const ids = new Set();
  let hasNew = false;
  const isUnknown = (/** @type {string} */ id) => !tasks.has(id);
  for (const { type, task, tasks: named = [] } of events) {
    if (type === 'task_created') hasNew ||= named.length === 0 || named.some(isUnknown);
    else if (type === 'task_deleted') ids.delete(task);
    else if (type === 'task_unblocked') for (const id of named.filter(isUnknown)) ids.add(id);
    else if (type === 'task_updated' || (type.startsWith('task_') && isUnknown(task))) ids.add(task);
  }
  return { ids, hasNew };
}

/** Computed once for each `tasks`. @type {WeakMap<Tasks, Map<string, string[]>>} */
const DEPENDENTS = new WeakMap();

/** @param {Tasks} tasks @returns {Map<string, string[]>} By id, the tasks that wait for it. */
export function dependentsOf(tasks) {
  let dependents = DEPENDENTS.get(tasks);
  if (!dependents) {
    dependents = new Map();
    for (const { id, status, dependencies } of tasks.values()) {
      if (status === 'completed') continue;
      for (const dependency of dependencies) {
        const ids = dependents.get(dependency);
        if (ids) ids.push(id);
        else dependents.set(dependency, [id]);
      }
    }
    DEPENDENTS.set(tasks, dependents);
  }
  return dependents;
}
