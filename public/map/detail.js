// The size from which files are drawn. Painters and the pointer share this rule.

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./placement.js').Placement} Placement */

const MIN_SIDE = 8;
const MIN_AREA_PER_FILE = 10;

/**
 * @param {Tree} tree
 * @param {Placement} placement
 * @param {number} folder
 * @returns {boolean} Whether the folder is one tile, because its files would be too small to see.
 */
export function isClosed(tree, { w, h }, folder) {
  if (folder === 0) return false;
  return w[folder] < MIN_SIDE || h[folder] < MIN_SIDE
    || w[folder] * h[folder] < MIN_AREA_PER_FILE * tree.fileCount[folder];
}
