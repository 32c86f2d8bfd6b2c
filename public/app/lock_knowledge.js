// How much the page knows of the locks. An empty list does not mean that files are free while the page reads the list,
// or after it has stopped getting events.

/** @typedef {import('./types.js').State} State */

/** @param {import('./types.js').Connection} connection @returns {boolean} Whether events arrive as they happen. */
export function isFollowed({ phase, isLate }) {
  return phase === 'live' && !isLate;
}

/**
 * @param {Pick<State, 'connection' | 'locksReadAt' | 'areLocksMissed'>} state
 * @returns {boolean} Whether the page knows all locks that exist.
 */
export function areLocksComplete({ connection, locksReadAt, areLocksMissed }) {
  return isFollowed(connection) && locksReadAt !== null && !areLocksMissed;
}

/**
 * `reading`: the page waits for a complete list. `known`: a file without a lock is free. `old`: a file without a lock
 * may have been locked since.
 * @param {Pick<State, 'connection' | 'problem' | 'locksReadAt' | 'areLocksMissed'>} state
 * @returns {'reading' | 'known' | 'old'}
 */
export function lockKnowledge(state) {
  const { connection, problem, locksReadAt } = state;
  if (connection.phase === 'ended') return 'old';
  if (locksReadAt === null) return 'reading';
  // While the page connects, its list is not old: the page reads it again as soon as the stream is open.
  if (problem || !(isFollowed(connection) || connection.phase === 'connecting')) return 'old';
  return areLocksComplete(state) ? 'known' : 'reading';
}
