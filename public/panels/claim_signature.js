import { isFollowed } from '../app/lock_knowledge.js';

/** @typedef {import('../app/types.js').State} State */

/**
 * Everything of the state of the page that decides about a claim of a file, as text: its locks, those of its neighbors, the graph, and whether
 * the server tells of changes. While it stays the same, the server's answer is not asked for again.
 * @param {Pick<State, 'graph' | 'locks' | 'connection'>} state
 * @param {string} path
 * @returns {string}
 */
export function claimSignature({ graph, locks, connection }, path) {
  const index = graph?.indexOf.get(path);
  const near = new Set([path]);
  if (graph && index !== undefined) for (const each of [...graph.imports[index], ...graph.importers[index]]) near.add(graph.files[each].path);
  const held = [...near].flatMap((each) => (locks.get(each) ?? []).map(({ holder, mode }) => [each, holder, mode]));
  const isAnswering = connection.phase === 'connecting' || isFollowed(connection);
  return JSON.stringify([path, graph?.version ?? null, held, isAnswering]);
}
