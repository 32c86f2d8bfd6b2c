// The neighbors of files that are being written.

/** @import { Graph, Lock } from './types.js' */

/**
 * The neighbors of files under a WRITING lock: files that they import, and files that import them. A file that the same
 * holder writes too is no neighbor of its own lock.
 * @param {Graph | null} graph
 * @param {Map<string, Lock[]>} locks
 * @returns {Map<string, string[]>} By path of the neighbor, the paths of the files under WRITING locks.
 */
export function neighborsOf(graph, locks) {
  /** @type {Map<string, string[]>} */
  const neighbors = new Map();
  if (!graph) return neighbors;
  for (const [path, [lock]] of locks) {
    const index = graph.indexOf.get(path);
    if (lock.mode !== 'WRITING' || index === undefined) continue;
    for (const neighborIndex of new Set([...graph.imports[index], ...graph.importers[index]])) {
      const neighbor = graph.files[neighborIndex].path;
      const neighborLock = locks.get(neighbor)?.[0];
      const isOwn = neighborLock?.mode === 'WRITING' && neighborLock.holder === lock.holder;
      if (neighbor === path || isOwn) continue;
      const writers = neighbors.get(neighbor);
      if (writers) writers.push(path);
      else neighbors.set(neighbor, [path]);
    }
  }
  return neighbors;
}

/**
 * @param {Map<string, string[]>} neighbors
 * @param {Map<string, Lock[]>} locks
 * @param {import('./graph.js').Policy | null} policy If it is not known, the default rules apply.
 * @returns {Set<string>} The neighbors that other holders cannot write.
 */
export function blockedNeighbors(neighbors, locks, policy) {
  if (policy && policy.neighbors !== 'block' && policy.neighbors !== 'interface') return new Set();
  const isBlocking = (/** @type {string} */ path) => !locks.get(path)?.[0].keepsInterface;
  return new Set([...neighbors].filter(([, writers]) => writers.some(isBlocking)).map(([path]) => path));
}
