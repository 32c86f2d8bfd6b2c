// Converts a layout to pixels, for one size of the whole map.

import { frameOf } from './frame.js';

/** @typedef {import('./layout.js').Layout} Layout */

/**
 * The box of each node, in pixels from the upper left corner of the map. For a folder, its frame too.
 * @typedef {object} Placement
 * @property {Float64Array} x
 * @property {Float64Array} y
 * @property {Float64Array} w
 * @property {Float64Array} h
 * @property {Float64Array} inset
 * @property {Float64Array} header
 */

/** The size from which the files of a folder are drawn. */
const MIN_SIDE = 8;
const MIN_AREA_PER_FILE = 10;

/**
 * A point of the map that is valid at every zoom, as shares of a node's width and height.
 * @typedef {{ node: number, u: number, v: number }} Anchor
 */

/** @param {number} count @returns {Placement} */
export function emptyPlacement(count) {
  const array = () => new Float64Array(count);
  return { x: array(), y: array(), w: array(), h: array(), inset: array(), header: array() };
}

/**
 * Computes the box of each node.
 * @param {Layout} layout
 * @param {number} width
 * @param {number} height
 * @param {Placement} placement Receives the result.
 * @param {boolean} [isFramed] Whether folders have frames.
 */
export function computePlacement(layout, width, height, placement, isFramed = true) {
  const { tree: { count, parent, file }, left, top, side } = layout;
  const { x, y, w, h, inset, header } = placement;
  for (let node = 0; node < count; node++) {
    if (node === 0) {
      w[0] = width;
      h[0] = height;
    } else {
      const folder = parent[node];
      // A map of few files uses only its middle and leaves the rest empty.
      const share = folder === 0 ? side : 1;
      const innerWidth = (w[folder] - 2 * inset[folder]) * share;
      const innerHeight = (h[folder] - header[folder] - inset[folder]) * share;
      x[node] = x[folder] + inset[folder] + (innerWidth * (1 / share - 1)) / 2 + left[node] * innerWidth;
      y[node] = y[folder] + header[folder] + (innerHeight * (1 / share - 1)) / 2 + top[node] * innerHeight;
      w[node] = layout.width[node] * innerWidth;
      h[node] = layout.height[node] * innerHeight;
    }
    if (isFramed && file[node] < 0) {
      const frame = frameOf(w[node], h[node], node === 0);
      inset[node] = frame.inset;
      header[node] = frame.header;
    }
  }
}

/**
 * Painters and the pointer share this rule.
 * @param {import('./tree.js').Tree} tree
 * @param {Placement} placement
 * @param {number} folder
 * @returns {boolean} Whether the folder is one tile, because its files would be too small to see.
 */
export function isClosed(tree, { w, h }, folder) {
  if (folder === 0) return false;
  return w[folder] < MIN_SIDE || h[folder] < MIN_SIDE
    || w[folder] * h[folder] < MIN_AREA_PER_FILE * tree.fileCount[folder];
}

/**
 * The deepest node at a point of the map, or -1 outside it.
 * @param {Layout} layout
 * @param {Placement} placement
 * @param {number} px
 * @param {number} py
 * @param {(folder: number) => boolean} [isEnd] Whether to stop at a folder.
 */
export function nodeAt({ tree }, { x, y, w, h }, px, py, isEnd) {
  const containsPoint = (/** @type {number} */ node) =>
    px >= x[node] && py >= y[node] && px < x[node] + w[node] && py < y[node] + h[node];
  if (tree.count === 0 || !containsPoint(0)) return -1;
  let deepest = 0;
  for (let node = 1; node < tree.end[deepest];) {
    if (!containsPoint(node)) {
      node = tree.end[node];
      continue;
    }
    deepest = node;
    if (tree.file[node] >= 0 || isEnd?.(node)) break;
    node += 1;
  }
  return deepest;
}

/**
 * @param {Layout} layout
 * @param {Placement} placement
 * @param {number} px
 * @param {number} py
 * @returns {Anchor}
 */
export function anchorAt(layout, placement, px, py) {
  const node = Math.max(0, nodeAt(layout, placement, px, py));
  return { node, u: (px - placement.x[node]) / placement.w[node], v: (py - placement.y[node]) / placement.h[node] };
}

/** @param {Placement} placement @param {Anchor} anchor */
export function pointOf(placement, { node, u, v }) {
  return { x: placement.x[node] + u * placement.w[node], y: placement.y[node] + v * placement.h[node] };
}
