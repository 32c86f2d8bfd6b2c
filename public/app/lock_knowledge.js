// What the page knows of the locks: an empty list of them means something else while it is read, and once nobody tells of changes.

/** @typedef {import('./types.js').State} State */

/**
 * @param {import('./types.js').Connection} connection
 * @returns {boolean} Whether events arrive as they happen.
 */
export function isFollowed({ phase, isLate }) {
  return phase === 'live' && !isLate;
}

/**
 * @param {Pick<State, 'connection' | 'locksReadAt' | 'areLocksMissed'>} state
 * @returns {boolean} Whether the locks that are shown are all that there are.
 */
export function areLocksWhole({ connection, locksReadAt, areLocksMissed }) {
  return isFollowed(connection) && locksReadAt !== null && !areLocksMissed;
}

/**
 * `reading`: a list that says all has yet to come. `known`: a file without a lock is free. `old`: it may have been locked since.
 * @param {Pick<State, 'connection' | 'problem' | 'locksReadAt' | 'areLocksMissed'>} state
 * @returns {'reading' | 'known' | 'old'}
 */
export function lockKnowledge(state) {
  const { connection, problem, locksReadAt } = state;
  if (connection.phase === 'ended') return 'old';
  if (locksReadAt === null) return 'reading';
  // The stream that is about to open has the list read again.
  if (problem || !(isFollowed(connection) || connection.phase === 'connecting')) return 'old';
  return areLocksWhole(state) ? 'known' : 'reading';
}
