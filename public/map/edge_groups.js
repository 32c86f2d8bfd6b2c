// Selects the edges to draw, and their style: strong ones of the selected file or agent, faint ones of locked files,
// and all edges of a small graph.

/** @typedef {import('../app/types.js').Graph} Graph */
/** @typedef {import('./paint_edges.js').EdgeGroup} EdgeGroup */

/** The map never shows all edges of a graph with this number of edges or more. */
export const ALL_EDGES_LIMIT = 1500;
/** A group with more edges is fainter. */
const QUIET_FROM = 16;

/**
 * @param {object} options
 * @param {Graph} options.graph
 * @param {import('./tree.js').Tree} options.tree
 * @param {import('./palette.js').Palette} options.palette
 * @param {Map<string, import('../app/types.js').Lock[]>} options.locks
 * @param {number} options.selected File; -1 without one.
 * @param {string | null} [options.agent] Key of the selected holder, whose files have strong edges.
 * @param {boolean} options.hasAll Whether the user wants all edges.
 * @returns {EdgeGroup[]} In the order to draw.
 */
export function edgeGroups({ graph, tree, palette: { color }, locks, selected, agent = null, hasAll }) {
  const { imports, importers, indexOf } = graph;
  /** @param {EdgeGroup} group @param {number} importer @param {number} imported */
  const addEdge = ({ nodes }, importer, imported) => nodes.push(tree.nodeOf[importer], tree.nodeOf[imported]);
  const groups = [];
  if (hasAll && graph.edgeCount < ALL_EDGES_LIMIT) {
    const everything = edgeGroup(color.soft, 0.32, 1);
    imports.forEach((imported, importer) => {
      for (const file of imported) addEdge(everything, importer, file);
    });
    groups.push(everything);
  }
  // A selection makes the edges of other files fainter.
  const share = selected >= 0 || agent !== null ? 0.5 : 1;
  const reading = { ...edgeGroup(color.reading, 0.3 * share, 1), isBundled: true };
  const writing = { ...edgeGroup(color.writing, 0.36 * share, 1), isBundled: true };
  const ofAgent = edgeGroup(color.focus, 0.7, 2);
  for (const [path, pathLocks] of locks) {
    const file = indexOf.get(path);
    if (file === undefined || file === selected) continue;
    const byMode = pathLocks.some(({ mode }) => mode === 'WRITING') ? writing : reading;
    const group = pathLocks.some(({ holder }) => holder === agent) ? ofAgent : byMode;
    for (const imported of imports[file] ?? []) addEdge(group, file, imported);
    for (const importer of importers[file] ?? []) addEdge(group, importer, file);
  }
  for (const group of [reading, writing]) {
    // A bundle of many edges is visible even if each of them is faint.
    group.alpha *= Math.min(1, (QUIET_FROM / Math.max(1, group.nodes.length / 2)) ** 0.35);
    groups.push(group);
  }
  groups.push(ofAgent);
  if (selected >= 0) {
    const incoming = edgeGroup(color.ink, 0.55, 2);
    const outgoing = edgeGroup(color.accent, 0.9, 2.6);
    for (const importer of importers[selected] ?? []) addEdge(incoming, importer, selected);
    for (const imported of imports[selected] ?? []) addEdge(outgoing, selected, imported);
    groups.push(incoming, outgoing);
  }
  return groups.filter(({ nodes }) => nodes.length > 0);
}

/** @param {string} color @param {number} alpha @param {number} weight @returns {EdgeGroup} */
function edgeGroup(color, alpha, weight) {
  return { nodes: [], color, alpha, weight };
}
