// A repository in one line: the agents that work in it, and its newest event.

import { readActivity } from './activity.js';
import { holderKey } from './holder.js';

/**
 * @typedef {object} Overview
 * @property {number} agents Holders that have locks or wait.
 * @property {number} locked Files, on all branches.
 * @property {number} blocked Agents that wait.
 * @property {import('./types.js').Activity | null} last The newest event of a holder, if there is one.
 */

/**
 * @param {any} locks Of `GET /api/locks`.
 * @param {any} activity Of `GET /api/activity`.
 * @returns {Overview}
 */
export function readOverview({ locks, waiting = [] }, { events }) {
  /** @type {import('./types.js').Activity[]} */
  const entries = events.map((/** @type {any} */ event) => readActivity(event));
  const holdersOf = (/** @type {any[]} */ list) => list.map(({ user, agent_id: agent }) => holderKey(user, agent));
  return {
    agents: new Set(holdersOf([...locks, ...waiting])).size,
    locked: new Set(locks.map((/** @type {any} */ { branch, file_path: path }) => `${branch} ${path}`)).size,
    blocked: new Set(holdersOf(waiting)).size,
    last: entries.find(({ holder }) => holder !== null) ?? entries[0] ?? null,
  };
}
