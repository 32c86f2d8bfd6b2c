import { isFollowed } from '../app/lock_knowledge.js';

/**
 * All facts of the state that decide a claim of a file, as text: its locks, the locks of its neighbors, the graph, and
 * whether events arrive. While it stays the same, the page does not repeat its request for a verdict.
 * @param {Pick<import('../app/types.js').State, 'graph' | 'locks' | 'connection'>} state
 * @param {string} path
 * @returns {string}
 */
export function claimSignature({ graph, locks, connection }, path) {
  const index = graph?.indexOf.get(path);
  const paths = new Set([path]);
  if (graph && index !== undefined) {
    for (const neighbor of [...graph.imports[index], ...graph.importers[index]]) paths.add(graph.files[neighbor].path);
  }
  const relevantLocks = [...paths].flatMap((lockPath) =>
    (locks.get(lockPath) ?? []).map(({ holder, mode }) => [lockPath, holder, mode]));
  const isAnswering = connection.phase === 'connecting' || isFollowed(connection);
  return JSON.stringify([path, graph?.version ?? null, relevantLocks, isAnswering]);
}
