// The position of each file and folder, in shares of its folder. Shares hold at every scale; `placement.js` has pixels.

import { frameOf } from './frame.js';
import { squarifyBounded } from './squarify.js';

/** @typedef {import('./tree.js').Tree} Tree */

/**
 * By node, the arrays contain shares of the inside of the parent, 0 to 1.
 * @typedef {object} Layout
 * @property {Tree} tree
 * @property {Float64Array} left
 * @property {Float64Array} top
 * @property {Float64Array} width
 * @property {Float64Array} height
 * @property {number} side Share of each side of the map that the files take. With few files, it is below 1, so that no
 *   file takes too much of the map.
 */

/** No file or folder is longer than this many times its width. */
export const WORST_ASPECT = 10;

/** No file takes more of the map than this. */
export const LARGEST_SHARE = 1 / 6;

/** Layouts are computed for a map of this area, in square pixels, whatever the size of the window. */
const NOMINAL_AREA = 1440 * 900;

/**
 * Computes a layout. It depends on the arguments alone.
 * @param {Tree} tree
 * @param {Float64Array} weights Of each file.
 * @param {number} aspect Width of the map divided by its height.
 * @returns {Layout}
 */
export function layoutOf(tree, weights, aspect) {
  const { count, parent, end, file } = tree;
  const total = new Float64Array(count);
  for (let node = count - 1; node >= 0; node--) {
    if (file[node] >= 0) total[node] = weights[file[node]];
    if (node > 0) total[parent[node]] += total[node];
  }
  const layout = {
    tree,
    left: new Float64Array(count),
    top: new Float64Array(count),
    width: new Float64Array(count),
    height: new Float64Array(count),
    side: 1,
  };
  // Pixels of each folder on the nominal map: they decide in which direction its rows run.
  const pixelWidth = new Float64Array(count);
  const pixelHeight = new Float64Array(count);
  pixelWidth[0] = Math.sqrt(NOMINAL_AREA * aspect);
  pixelHeight[0] = NOMINAL_AREA / pixelWidth[0];
  layout.width[0] = 1;
  layout.height[0] = 1;
  let largest = 0;

  for (let folder = 0; folder < count; folder++) {
    if (file[folder] >= 0) continue;
    const inside = [];
    for (let node = folder + 1; node < end[folder]; node = end[node]) inside.push(node);
    // Equal weights stay in the order of the tree.
    inside.sort((a, b) => total[b] - total[a] || a - b);
    const { inset, header } = frameOf(pixelWidth[folder], pixelHeight[folder], folder === 0);
    const width = pixelWidth[folder] - 2 * inset;
    const height = pixelHeight[folder] - header - inset;
    const parts = new Float64Array(inside.length * 4);
    squarifyBounded(Float64Array.from(inside, (node) => total[node]), width, height, WORST_ASPECT, parts);
    inside.forEach((node, index) => {
      layout.left[node] = parts[index * 4] / width;
      layout.top[node] = parts[index * 4 + 1] / height;
      layout.width[node] = parts[index * 4 + 2] / width;
      layout.height[node] = parts[index * 4 + 3] / height;
      pixelWidth[node] = parts[index * 4 + 2];
      pixelHeight[node] = parts[index * 4 + 3];
      if (file[node] >= 0) largest = Math.max(largest, pixelWidth[node] * pixelHeight[node]);
    });
  }
  layout.side = Math.min(1, Math.sqrt((LARGEST_SHARE * NOMINAL_AREA) / Math.max(1, largest)));
  return layout;
}

/**
 * The aspect ratio of the layout for a map of this size. It changes in steps: a small change of the window only
 * stretches the layout.
 * @param {number} width
 * @param {number} height
 */
export function aspectFor(width, height) {
  return 2 ** (Math.round(Math.log2(width / height) * 3) / 3);
}
