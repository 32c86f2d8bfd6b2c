// What tasks, members and messages say, for people.

import { columnOf, isHeld, isHeldBack } from './tasks.js';
import { counted } from './words.js';

/** @typedef {import('./team_types.js').Task} Task */
/** @typedef {import('./team_types.js').Column} Column */

/** @type {Record<Column, { title: string, empty: string, icon: string }>} */
export const COLUMN_WORDS = {
  blocked: { title: 'Blocked', empty: 'Nothing is blocked.', icon: 'lock' },
  ready: { title: 'Ready', empty: 'No task is ready.', icon: 'play' },
  in_progress: { title: 'In progress', empty: 'No task is in progress.', icon: 'clock' },
  done: { title: 'Done', empty: 'No task is done yet.', icon: 'check' },
};

/** @type {Record<string, string>} Of messages that are not plain. */
export const KIND_WORDS = {
  idle: 'Idle',
  task_assignment: 'Task assigned',
  shutdown_request: 'Asks to stop',
  shutdown_approved: 'Stops',
  shutdown_rejected: 'Goes on',
};

/** @param {Task} task @returns {string} Where it stands, in few words. */
export function standingOf(task) {
  const { status, owner, previousOwner, lease, lapses, dependencies } = task;
  if (status === 'completed') return `Done by ${owner ?? 'nobody known'}`;
  if (isHeld(task)) return `In progress by ${owner}`;
  if (isHeldBack(task)) return `Held back: its claims expired ${counted(lapses, 'time')}`;
  if (dependencies.length > 0) return `Waits for ${counted(dependencies.length, 'task')}`;
  if (lease.state === 'lapsed') return `Ready: the claim of ${previousOwner ?? 'nobody known'} expired`;
  if (lease.state === 'released') return `Ready: released by ${previousOwner ?? 'nobody known'}`;
  return 'Ready';
}

/** @param {Task} task @returns {string} Who is to move, for a task that holds others up. */
export function moverOf(task) {
  if (isHeld(task)) return task.owner ?? '';
  if (isHeldBack(task)) return 'held back';
  return columnOf(task) === 'blocked' ? 'blocked' : 'nobody';
}

/** @param {any} event About a team. @returns {string | null} What its `handle` did, as the rest of a sentence; null for another event. */
export function teamDeed(event) {
  const task = `task ${event.task}`;
  switch (event.type) {
    case 'task_created': return `adds ${event.task_count === 1 ? `task ${event.tasks[0]}` : `${event.task_count} tasks`}`;
    case 'task_updated': return `edits ${task}`;
    case 'task_claimed': return `claims ${task}`;
    case 'task_completed': return `completes ${task}`;
    case 'task_released': return `gives ${task} back`;
    case 'task_lapsed': return `loses ${task}: the claim expired`;
    case 'task_deleted': return `deletes ${task}`;
    case 'task_unblocked': return `${counted(event.task_count, 'task')} of team ${event.team} became ready when ${event.task} was done`;
    case 'message_sent': return !event.from ? `A message of Coord goes to ${event.recipient_count === 0 ? 'all' : event.to}` : event.recipient_count === 0 ? 'writes to all' : `writes to ${event.to}${event.recipient_count > 1 ? ` and ${event.recipient_count - 1} more` : ''}`;
    case 'team_changed': return TEAM_CHANGES[event.change] ?? 'changes';
    case 'shutdown_changed': return SHUTDOWN_CHANGES[event.state] ?? 'answers a shutdown';
    default: return null;
  }
}

/** @type {Record<string, string>} */
const TEAM_CHANGES = {
  created: 'creates the team', joined: 'joins', taken_over: 'joins again', left: 'leaves', handed_over: 'leads now', closed: 'closes the team', deleted: 'deletes the team',
};
/** @type {Record<string, string>} */
const SHUTDOWN_CHANGES = {
  requested: 'asks for a shutdown', approved: 'approves the shutdown', rejected_by: 'rejects the shutdown', rejected: 'ends the shutdown by a rejection',
  forced: 'forces the shutdown', closed: 'closes the team',
};

/**
 * @param {any} event
 * @returns {{ handle: string | null, deed: string } | null} Of an event about a team; else null.
 */
export function readTeamEvent(event) {
  const deed = typeof event.team === 'string' ? teamDeed(event) : null;
  return deed === null ? null : { handle: event.handle ?? event.from ?? null, deed };
}
