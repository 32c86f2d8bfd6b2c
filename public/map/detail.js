// What is large enough to be drawn: one rule for painting and for the pointer.

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./placement.js').Placement} Placement */

const LEAST_SIDE = 8;
const LEAST_AREA_OF_FILE = 10;

/**
 * Whether a folder is drawn as one tile, because its files would be too small to see.
 * @param {Tree} tree
 * @param {Placement} placement
 * @param {number} folder
 */
export function isClosed(tree, { w, h }, folder) {
  if (folder === 0) return false;
  return w[folder] < LEAST_SIDE || h[folder] < LEAST_SIDE
    || w[folder] * h[folder] < LEAST_AREA_OF_FILE * tree.fileCount[folder];
}
