// Labels for tasks, members and messages.

import { formatCount } from './formatting.js';
import { columnOf, isHeld, isHeldBack } from './tasks.js';

/** @import { Column, Task } from './team_types.js' */

/** @type {Record<Column, { title: string, empty: string, icon: string }>} */
export const COLUMN_LABELS = {
  blocked: { title: 'Blocked', empty: 'Nothing is blocked.', icon: 'lock' },
  ready: { title: 'Ready', empty: 'No task is ready.', icon: 'play' },
  in_progress: { title: 'In progress', empty: 'No task is in progress.', icon: 'clock' },
  done: { title: 'Done', empty: 'No task is done yet.', icon: 'check' },
};

/** Labels of messages that are not plain. @type {Record<string, string>} */
export const MESSAGE_LABELS = {
  idle: 'Idle',
  task_assignment: 'Task assigned',
  shutdown_request: 'Shutdown requested',
  shutdown_approved: 'Shutdown approved',
  shutdown_rejected: 'Shutdown rejected',
};

/** The name of a member that the page does not know. */
export const UNKNOWN_MEMBER = 'an unknown member';

/** @param {Task} task @returns {string} Its status in a few words. */
export function statusLabel(task) {
  const { status, owner, lease, lapses, dependencies } = task;
  const previousOwner = task.previousOwner ?? UNKNOWN_MEMBER;
  if (status === 'completed') return `Done by ${owner ?? UNKNOWN_MEMBER}`;
  if (isHeld(task)) return `In progress by ${owner}`;
  if (isHeldBack(task)) return `Held back: its claims expired ${formatCount(lapses, 'time')}`;
  if (dependencies.length > 0) return `Waits for ${formatCount(dependencies.length, 'task')}`;
  if (lease.state === 'lapsed') return `Ready: the claim of ${previousOwner} expired`;
  if (lease.state === 'released') return `Ready: released by ${previousOwner}`;
  return 'Ready';
}

/** @param {Task} task A task that blocks others. @returns {string} The member that has it, or why nobody has. */
export function ownerLabel(task) {
  if (isHeld(task)) return task.owner ?? '';
  if (isHeldBack(task)) return 'held back';
  return columnOf(task) === 'blocked' ? 'blocked' : 'nobody';
}

/**
 * @param {any} event About a team.
 * @returns {string | null} The rest of a sentence that begins with the event's `handle`; `null` for another event.
 */
export function describeTeamEvent(event) {
  const { task_count: count } = event;
  const task = `task ${event.task}`;
  switch (event.type) {
    case 'task_created': return count === 1 ? `adds task ${event.tasks[0]}` : `adds ${count} tasks`;
    case 'task_updated': return `edits ${task}`;
    case 'task_claimed': return `claims ${task}`;
    case 'task_completed': return `completes ${task}`;
    case 'task_released': return `releases ${task}`;
    case 'task_lapsed': return `loses ${task}: the claim expired`;
    case 'task_deleted': return `deletes ${task}`;
    case 'task_unblocked': {
      return `${formatCount(count, 'task')} of team ${event.team} became ready when ${event.task} was done`;
    }
    case 'message_sent': return describeMessage(event);
    case 'team_changed': return TEAM_CHANGES[event.change] ?? 'changes';
    case 'shutdown_changed': return SHUTDOWN_CHANGES[event.state] ?? 'answers a shutdown';
    default: return null;
  }
}

/** @param {any} event A `message_sent`. @returns {string} */
function describeMessage({ from, to, recipient_count: count }) {
  if (!from) return `Coord sends a message to ${count === 0 ? 'all' : to}`;
  if (count === 0) return 'writes to all';
  return `writes to ${to}${count > 1 ? ` and ${count - 1} more` : ''}`;
}

/** @type {Record<string, string>} */
const TEAM_CHANGES = {
  created: 'creates the team',
  joined: 'joins',
  taken_over: 'joins again',
  left: 'leaves',
  handed_over: 'leads now',
  closed: 'closes the team',
  deleted: 'deletes the team',
};
/** @type {Record<string, string>} */
const SHUTDOWN_CHANGES = {
  requested: 'asks for a shutdown',
  approved: 'approves the shutdown',
  rejected_by: 'rejects the shutdown',
  rejected: 'ends the shutdown by rejecting it',
  forced: 'forces the shutdown',
  closed: 'closes the team',
};

/**
 * @param {any} event
 * @returns {{ handle: string | null, description: string } | null} `null` for an event that is not about a team.
 */
export function readTeamEvent(event) {
  const description = typeof event.team === 'string' ? describeTeamEvent(event) : null;
  return description === null ? null : { handle: event.handle ?? event.from ?? null, description };
}
