// Which edges are drawn, and how: those of the selected file or agent, faint ones of locked files, and all of them where there are few.

/** @typedef {import('../app/types.js').Graph} Graph */
/** @typedef {import('./paint_edges.js').EdgeGroup} EdgeGroup */

/** A graph with as many edges or more never shows them all. */
export const ALL_EDGES_LIMIT = 1500;

const QUIET_FROM = 16;

/**
 * @param {object} shown
 * @param {Graph} shown.graph
 * @param {import('./tree.js').Tree} shown.tree
 * @param {import('./palette.js').Palette} shown.palette
 * @param {Map<string, import('../app/types.js').Lock[]>} shown.locks
 * @param {number} shown.selected File; -1 without one.
 * @param {string | null} [shown.agent] Key of the selected holder: the edges of its files stand out.
 * @param {boolean} shown.hasAll Whether all edges are wanted.
 * @returns {EdgeGroup[]} In the order to draw.
 */
export function edgeGroups({ graph, tree, palette: { color }, locks, selected, agent = null, hasAll }) {
  const { imports, importers, indexOf } = graph;
  const groups = [];
  if (hasAll && graph.edgeCount < ALL_EDGES_LIMIT) {
    const all = group(color.soft, 0.32, 1);
    imports.forEach((imported, importer) => {
      for (const file of imported) add(all, tree, importer, file);
    });
    groups.push(all);
  }
  // Beside what is selected, the others step back.
  const share = selected >= 0 || agent !== null ? 0.5 : 1;
  const reading = { ...group(color.reading, 0.3 * share, 1), isBundled: true };
  const writing = { ...group(color.writing, 0.36 * share, 1), isBundled: true };
  const own = group(color.focus, 0.7, 2);
  for (const [path, held] of locks) {
    const file = indexOf.get(path);
    if (file === undefined || file === selected) continue;
    const its = held.some(({ holder }) => holder === agent) ? own : held.some(({ mode }) => mode === 'WRITING') ? writing : reading;
    for (const imported of imports[file] ?? []) add(its, tree, file, imported);
    for (const importer of importers[file] ?? []) add(its, tree, importer, file);
  }
  for (const its of [reading, writing]) {
    // A bundle of many is seen without each of them.
    its.alpha *= Math.min(1, (QUIET_FROM / Math.max(1, its.nodes.length / 2)) ** 0.35);
    groups.push(its);
  }
  groups.push(own);
  if (selected >= 0) {
    const incoming = group(color.ink, 0.55, 2);
    const outgoing = group(color.accent, 0.9, 2.6);
    for (const importer of importers[selected] ?? []) add(incoming, tree, importer, selected);
    for (const imported of imports[selected] ?? []) add(outgoing, tree, selected, imported);
    groups.push(incoming, outgoing);
  }
  return groups.filter(({ nodes }) => nodes.length > 0);
}

/** @param {string} color @param {number} alpha @param {number} weight @returns {EdgeGroup} */
function group(color, alpha, weight) {
  return { nodes: [], color, alpha, weight };
}

/**
 * @param {EdgeGroup} group
 * @param {import('./tree.js').Tree} tree
 * @param {number} importer
 * @param {number} imported
 */
function add({ nodes }, { nodeOf }, importer, imported) {
  nodes.push(nodeOf[importer], nodeOf[imported]);
}
