// The rows of the table of tasks: filtered and sorted. No elements.

import { textFilter } from '../app/formatting.js';
import { columnOf, dependentsOf, isHeld, PRIORITIES, searchTextOf } from '../app/tasks.js';
import { sortedRows } from './window_table.js';

/** @typedef {import('../app/team_types.js').Task} Task */
/** @typedef {import('../app/tasks.js').Tasks} Tasks */

/** @type {import('./window_table.js').Column[]} */
export const TASK_COLUMNS = [
  { id: 'title', label: 'Task', isNumber: false, isDescendingFirst: false },
  { id: 'id', label: 'Id', isNumber: false, isDescendingFirst: false },
  { id: 'status', label: 'Status', isNumber: false, isDescendingFirst: false },
  { id: 'waits', label: 'Waits for', isNumber: false, isDescendingFirst: true },
  { id: 'owner', label: 'Owner', isNumber: false, isDescendingFirst: false },
  { id: 'expiry', label: 'Expires in', isNumber: true, isDescendingFirst: false },
  { id: 'priority', label: 'Priority', isNumber: false, isDescendingFirst: false },
  { id: 'holds', label: 'Wait for it', isNumber: true, isDescendingFirst: true },
  { id: 'lapses', label: 'Expired', isNumber: true, isDescendingFirst: true },
  { id: 'assignee', label: 'Assigned to', isNumber: false, isDescendingFirst: false },
  { id: 'files', label: 'Files', isNumber: false, isDescendingFirst: true },
];

/** Tasks in progress come first: they change. */
const ORDER = ['in_progress', 'ready', 'blocked', 'done'];

/**
 * @param {Task} task
 * @param {string} column
 * @param {Map<string, string[]>} dependents
 * @returns {string | number | null} The value that the column sorts by.
 */
function valueOf(task, column, dependents) {
  switch (column) {
    case 'title': return task.title.toLowerCase();
    case 'id': return Number.isFinite(task.rank) ? task.rank : task.id;
    case 'status': return ORDER.indexOf(columnOf(task));
    case 'owner': return task.owner;
    case 'expiry': return isHeld(task) ? task.lease.expires : null;
    case 'priority': return PRIORITIES[task.priority];
    case 'waits': return task.dependencies.length || null;
    case 'holds': return dependents.get(task.id)?.length ?? null;
    case 'lapses': return task.lapses || null;
    case 'assignee': return task.assignee;
    default: return task.files.length || null;
  }
}

/**
 * @param {Tasks} tasks
 * @param {import('./window_table.js').Choice} choice `isOnly`: without the completed tasks.
 * @returns {Task[]} Tasks without a value are last in both directions.
 */
export function taskRows(tasks, { filter, isOnly, column, isDescending }) {
  const matches = textFilter(filter);
  const dependents = dependentsOf(tasks);
  const shownTasks = [...tasks.values()]
    .filter((task) => (!isOnly || task.status !== 'completed') && (!filter || matches(searchTextOf(task))));
  return sortedRows(shownTasks, (task) => valueOf(task, column, dependents), isDescending, (a, b) =>
    a.rank - b.rank || (a.id < b.id ? -1 : 1));
}
