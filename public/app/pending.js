// Changes on work branches that are not merged into the branch yet, from a list of locks.

import { holderKey } from './holder.js';

/**
 * @typedef {object} Pending
 * @property {string} path
 * @property {string} holder The author, by the key of a holder.
 * @property {string} workBranch
 * @property {number | null} pullRequest
 * @property {string} message
 * @property {number} since Milliseconds.
 */

/**
 * @param {any} body Of `GET /api/locks`.
 * @param {string} branch
 * @returns {Pending[]} In the order of their paths.
 */
export function readPending(body, branch) {
  return (body.pending ?? [])
    .filter((/** @type {any} */ change) => change.branch === branch)
    .map((/** @type {any} */ change) => ({
      path: change.file_path,
      holder: holderKey(change.user, change.agent_id),
      workBranch: change.work_branch,
      pullRequest: change.pull_request ?? null,
      message: change.message,
      since: change.since * 1000,
    }));
}

/**
 * @param {Pending} change
 * @param {string} [name] Of its author.
 * @returns {string}
 */
export function pendingSentence({ holder, workBranch, pullRequest, message }, name = holder) {
  const number = pullRequest === null ? '' : ` (#${pullRequest})`;
  return `Unmerged changes by ${name} on ${workBranch}${number}: ${message}`;
}
