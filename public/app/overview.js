// A repository in a line: who works in it, and what happened last.

import { readActivity } from './activity.js';
import { holderKey } from './holder.js';

/**
 * @typedef {object} Overview
 * @property {number} agents Holders of locks, and those who wait.
 * @property {number} locked Files, on all branches.
 * @property {number} blocked Agents that wait.
 * @property {import('./types.js').Activity | null} last The newest event, of somebody where there is one.
 */

/**
 * @param {any} locks The answer of `GET /api/locks`.
 * @param {any} activity The answer of `GET /api/activity`.
 * @returns {Overview}
 */
export function readOverview({ locks, waiting = [] }, { events }) {
  /** @type {import('./types.js').Activity[]} */
  const entries = events.map((/** @type {any} */ event) => readActivity(event));
  const holders = (/** @type {any[]} */ list) => list.map(({ user, agent_id: agent }) => holderKey(user, agent));
  return {
    agents: new Set(holders([...locks, ...waiting])).size,
    locked: new Set(locks.map((/** @type {any} */ { branch, file_path: path }) => `${branch} ${path}`)).size,
    blocked: new Set(holders(waiting)).size,
    last: entries.find(({ holder }) => holder !== null) ?? entries[0] ?? null,
  };
}
