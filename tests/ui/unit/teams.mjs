// Teams, tasks and messages as the server sends them, for tests.

import { readTask } from '../../../public/app/tasks.js';
import { START } from './events.mjs';

const iso = (/** @type {number} */ ms) => new Date(ms).toISOString();

/** @param {string} id @param {object} [rest] @returns {any} A task of `GET /api/tasks`. */
export const taskView = (id, rest = {}) => ({
  id, title: `Title of ${id}`, priority: 'normal', status: 'pending', createdAt: iso(START), dependencies: [], blocks: [], files: [], createdBy: 'lead',
  lease: { state: 'none' }, lapses: 0, metDependencies: [], blockCount: 0, isReady: true, ...rest,
});

/** @param {string} id @param {string} owner @param {number} token @param {object} [rest] @returns {any} A claimed task, for 15 minutes. */
export const claimedTaskView = (id, owner, token, rest = {}) => taskView(id, { status: 'in_progress', owner, claimedAt: iso(START), lease: { state: 'held', expires: iso(START + 900_000), token }, ...rest });

/** @param {any[]} views */
export const tasksOf = (views) => new Map(views.map((view) => [view.id, readTask(view)]));

let sequence = 0;
/** @param {string} type @param {object} [rest] @returns {any} An event about team `alpha`. */
export function teamEvent(type, rest = {}) {
  sequence += 1;
  const time = START / 1000 + sequence;
  return { id: `${time * 1000}-0`, type, team: 'alpha', time, ...rest };
}

/** @param {string} type @param {object} [rest] */
const claimEvent = (type, rest) => (/** @type {string} */ task, /** @type {string} */ handle, /** @type {number} */ token) =>
  teamEvent(type, { task, title: `Title of ${task}`, handle, user: handle, token, ...rest });
export const taskClaimed = claimEvent('task_claimed', { expiry_ms: START + 1_800_000 });
export const taskLapsed = claimEvent('task_lapsed');
export const taskReleased = claimEvent('task_released');
export const taskCompleted = claimEvent('task_completed');

/** @param {string} handle @param {object} [rest] */
const member = (handle, rest = {}) => ({ agentId: handle, agentName: handle, agentType: 'agent', joinedAt: iso(START), login: handle, lastSeen: iso(START), isLive: true, claims: [], unread: 0, ...rest });

/** @param {object} [rest] @returns {any} The answer of `GET /api/teams/alpha`. */
export const teamBody = (rest = {}) => ({
  team: { name: 'alpha', created: iso(START), leader: 'lead', members: [member('ann'), member('bob', { isLive: false, lastSeen: undefined }), member('lead')], shutdownApprovals: [], createdBy: 'lead', isStrict: false, openTasks: 2, doneTasks: 0, ...rest },
});

/** @returns {any} The answer of `GET /api/teams`. */
export const teamsBody = (names = ['alpha']) => ({ teams: names.map((name, place) => ({ name, leader: 'lead', memberCount: 3, created: iso(START), openTasks: 10 - place, doneTasks: 0 })) });

/** @param {number} id @param {object} [rest] @returns {any} A message of `GET /api/messages`. */
export const messageView = (id, rest = {}) => ({ id, from: 'ann', login: 'ann', to: 'lead', message: `Text of ${id}`, type: 'plain', timestamp: iso(START + id * 1000), read: false, ...rest });
