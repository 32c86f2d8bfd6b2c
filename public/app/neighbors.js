/** @typedef {import('./types.js').Graph} Graph */
/** @typedef {import('./types.js').Lock} Lock */

/**
 * The files that writers endanger: those that a file under a WRITING lock imports, and those that import it. A file that the same
 * holder writes too is in no danger from that lock.
 * @param {Graph | null} graph
 * @param {Map<string, Lock[]>} locks
 * @returns {Map<string, string[]>} Paths of the files under WRITING locks, by path of the endangered file.
 */
export function neighborsOf(graph, locks) {
  /** @type {Map<string, string[]>} */
  const neighbors = new Map();
  if (!graph) return neighbors;
  for (const [path, [lock]] of locks) {
    const index = graph.indexOf.get(path);
    if (lock.mode !== 'WRITING' || index === undefined) continue;
    for (const other of new Set([...graph.imports[index], ...graph.importers[index]])) {
      const near = graph.files[other].path;
      const own = locks.get(near)?.[0];
      if (near === path || (own?.mode === 'WRITING' && own.holder === lock.holder)) continue;
      const writers = neighbors.get(near);
      if (writers) writers.push(path);
      else neighbors.set(near, [path]);
    }
  }
  return neighbors;
}

/**
 * Which of these files nobody but their writers' own holders can write.
 * @param {Map<string, string[]>} neighbors
 * @param {Map<string, Lock[]>} locks
 * @param {import('./graph.js').Policy | null} policy Unknown rules are the usual ones.
 * @returns {Set<string>}
 */
export function blockedAmong(neighbors, locks, policy) {
  if (policy && policy.neighbors !== 'block' && policy.neighbors !== 'interface') return new Set();
  return new Set([...neighbors].filter(([, writers]) => writers.some((path) => !locks.get(path)?.[0].keepsInterface)).map(([path]) => path));
}
