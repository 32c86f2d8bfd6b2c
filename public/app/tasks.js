// Tasks as the page shows them, from `GET /api/tasks` and from events. Nothing here changes what it is given.

import { timeOf } from './locks.js';
import { instant } from './teams.js';

/** @typedef {import('./team_types.js').Task} Task */
/** @typedef {import('./team_types.js').WholeTask} WholeTask */
/** @typedef {import('./team_types.js').Column} Column */
/** @typedef {Map<string, Task>} Tasks By id. */

/** So many lapses hold a task back, until its creator or the leader clears them. */
export const MOST_LAPSES = 3;
const PRIORITIES = { high: 0, normal: 1, low: 2 };
/** @type {Column[]} */
export const COLUMNS = ['blocked', 'ready', 'in_progress', 'done'];

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
    claimedAt: instant(view.claimedAt),
    completedAt: instant(view.completedAt),
    assignee: view.assignee ?? null,
    reservedUntil: instant(view.reservedUntil),
    dependencies: view.dependencies,
    met: view.metDependencies,
    blocks: view.blocks,
    blockCount: view.blockCount,
    files: view.files,
    branch: view.branch ?? null,
    intentId: view.intent_id ?? null,
    lease: { state: lease.state, expires: instant(lease.expires), token: lease.token ?? 0 },
    lapses: view.lapses,
  };
}

/** @param {any} body The answer of `GET /api/tasks/{id}`. @returns {WholeTask} */
export function readWholeTask(body) {
  const { task } = body;
  return {
    ...readTask(task),
    description: task.description ?? '',
    notes: (task.notes ?? []).map((/** @type {any} */ { by = '', time, text }) => ({ by, at: Date.parse(time), text })),
    result: task.result ?? '',
    results: new Map((body.dependency_results ?? []).map((/** @type {any} */ { id, result }) => [id, result])),
  };
}

/** @param {Task} task @returns {boolean} Whether somebody has it. */
export function isHeld({ status, lease }) {
  return status === 'in_progress' && lease.state === 'held';
}

/** @param {Task} task @returns {boolean} */
export function isHeldBack(task) {
  return task.status !== 'completed' && !isHeld(task) && task.lapses >= MOST_LAPSES;
}

/** @param {Task} task @returns {Column} By what can be done about it: a task whose claim lapsed may be claimed, whatever its status. */
export function columnOf(task) {
  if (task.status === 'completed') return 'done';
  if (isHeld(task)) return 'in_progress';
  return task.dependencies.length > 0 || isHeldBack(task) ? 'blocked' : 'ready';
}

/** @param {Task} one @param {Task} other The order in which `next` gives them. */
function byTurn(one, other) {
  return PRIORITIES[one.priority] - PRIORITIES[other.priority] || byAge(one, other);
}

/** @param {Task} one @param {Task} other */
function byAge(one, other) {
  return one.rank - other.rank || one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1);
}

/** @type {Record<Column, (one: Task, other: Task) => number>} */
const ORDERS = {
  // What is held back waits for a person.
  blocked: (one, other) => Number(isHeldBack(other)) - Number(isHeldBack(one)) || byTurn(one, other),
  ready: byTurn,
  in_progress: (one, other) => (one.claimedAt ?? 0) - (other.claimedAt ?? 0) || byAge(one, other),
  done: (one, other) => (other.completedAt ?? 0) - (one.completedAt ?? 0) || -byAge(one, other),
};

/**
 * @param {Tasks} tasks
 * @param {(task: Task) => boolean} isShown
 * @returns {Record<Column, Task[]>} In the order of each column: what has been worked on longest, and what was completed last, come first.
 */
export function columnsOf(tasks, isShown) {
  /** @type {Record<Column, Task[]>} */
  const columns = { blocked: [], ready: [], in_progress: [], done: [] };
  for (const task of tasks.values()) if (isShown(task)) columns[columnOf(task)].push(task);
  for (const column of COLUMNS) columns[column].sort(ORDERS[column]);
  return columns;
}

/** @param {Task} task @returns {string} What a search looks through. */
export function textOf({ id, title, owner, assignee, files }) {
  return `${id} ${title} ${owner ?? ''} ${assignee ?? ''} ${files.join(' ')}`;
}

/** @param {Tasks} tasks @returns {number | null} When the first claim lapses, as far as the page knows. */
export function firstLapse(tasks) {
  let first = Infinity;
  for (const task of tasks.values()) if (isHeld(task)) first = Math.min(first, task.lease.expires ?? Infinity);
  return first === Infinity ? null : first;
}

/**
 * What the events themselves say. Claims are told apart by their tokens, which only grow: an event that is late or repeated changes nothing.
 * @param {Tasks} tasks
 * @param {any[]} events Those of the team.
 * @returns {Tasks} The same object if nothing changes.
 */
export function applyToTasks(tasks, events) {
  let next = tasks;
  /** @type {Map<string, string[]> | null} */
  let dependents = null;
  const put = (/** @type {Task} */ task) => {
    if (next === tasks) next = new Map(tasks);
    next.set(task.id, task);
  };
  /** Nothing depends on it any more. @param {string} id @param {boolean} isMet */
  const settle = (id, isMet) => {
    dependents ??= dependentsOf(tasks);
    for (const name of dependents.get(id) ?? []) {
      const task = next.get(name);
      if (!task?.dependencies.includes(id)) continue;
      put({ ...task, dependencies: task.dependencies.filter((each) => each !== id), met: isMet ? [...task.met, id] : task.met });
    }
  };
  for (const event of events) {
    const task = next.get(event.task);
    if (event.type === 'task_deleted') {
      if (!task) continue;
      settle(event.task, false);
      if (next === tasks) next = new Map(tasks);
      next.delete(event.task);
    } else if (event.type === 'task_completed') {
      settle(event.task, true);
      if (task && task.status !== 'completed') put({ ...task, ...completed(event) });
    } else if (task && task.status !== 'completed') {
      const change = changeOf(task, event);
      if (change) put({ ...task, ...change });
    }
  }
  return next;
}

/** @param {any} event @returns {Partial<Task>} */
function completed(event) {
  return {
    status: 'completed', owner: event.handle ?? null, completedAt: timeOf(event), previousOwner: null, assignee: null, reservedUntil: null,
    lease: { state: 'none', expires: null, token: 0 },
  };
}

/** @param {Task} task @param {any} event @returns {Partial<Task> | null} */
function changeOf({ lease, lapses }, { type, handle = null, token = 0, expiry_ms: expires = null, ...event }) {
  if (type === 'task_claimed' && (token > lease.token || (token === lease.token && lease.state === 'held'))) {
    return {
      status: 'in_progress', owner: handle, previousOwner: null, assignee: null, reservedUntil: null, claimedAt: timeOf(event),
      lease: { state: 'held', expires: Math.max(expires ?? 0, token === lease.token ? lease.expires ?? 0 : 0), token },
    };
  }
  if ((type === 'task_released' || type === 'task_lapsed') && token >= lease.token && !(token === lease.token && lease.state !== 'held')) {
    const isLapse = type === 'task_lapsed';
    return { status: 'in_progress', owner: null, previousOwner: handle, lapses: lapses + (isLapse ? 1 : 0), lease: { state: isLapse ? 'lapsed' : 'released', expires: null, token } };
  }
  if (type === 'task_updated' && event.title !== undefined) return { title: event.title };
  return null;
}

/**
 * @param {Tasks} tasks With what the events say.
 * @param {any[]} events
 * @returns {{ ids: Set<string>, hasNew: boolean }} Tasks that have to be read, because the events do not say all; `hasNew`: and those that were added.
 */
export function wantedAfter(tasks, events) {
  /** @type {Set<string>} */
  const ids = new Set();
  let hasNew = false;
  for (const { type, task, tasks: named = [] } of events) {
    if (type === 'task_created') hasNew ||= named.length === 0 || named.some((/** @type {string} */ id) => !tasks.has(id));
    else if (type === 'task_deleted') ids.delete(task);
    else if (type === 'task_updated' || (type.startsWith('task_') && type !== 'task_unblocked' && !tasks.has(task))) ids.add(task);
    // What became free although the page thinks that it waits, or does not know of it.
    if (type === 'task_unblocked') for (const id of named) if (!tasks.has(id)) ids.add(id);
  }
  return { ids, hasNew };
}

/** @type {WeakMap<Tasks, Map<string, string[]>>} Made once for the same tasks. */
const DEPENDENTS = new WeakMap();

/** @param {Tasks} tasks @returns {Map<string, string[]>} By id, the tasks that wait for it. */
export function dependentsOf(tasks) {
  let dependents = DEPENDENTS.get(tasks);
  if (!dependents) {
    dependents = new Map();
    for (const { id, status, dependencies } of tasks.values()) {
      if (status === 'completed') continue;
      for (const other of dependencies) {
        const known = dependents.get(other);
        if (known) known.push(id);
        else dependents.set(other, [id]);
      }
    }
    DEPENDENTS.set(tasks, dependents);
  }
  return dependents;
}
