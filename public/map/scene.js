// The input of the painters, and the walk over the nodes that they share.

import { isClosed } from './placement.js';

/**
 * Painters use device pixels: edges of cells lie on them, so lines stay sharp.
 * @typedef {object} Scene
 * @property {import('./layout.js').Layout} layout
 * @property {import('./placement.js').Placement} placement In CSS pixels.
 * @property {import('../app/types.js').FileEntry[]} files
 * @property {import('./palette.js').Palette} palette
 * @property {import('./label_text.js').TextWidths} widths Of text at 10 pixels.
 * @property {import('./label_text.js').TextWidths} boldWidths Of semibold text at 10 pixels.
 * @property {(file: number) => string} detailOf The second line of a cell.
 * @property {Int32Array | null} matches By node, the files inside that match the filter; `null` without a filter.
 * @property {number} scale Of the camera.
 * @property {number} dpr Device pixels of a CSS pixel.
 * @property {number} ox Device pixels from the left of the view to the left of the map: an integer.
 * @property {number} oy
 * @property {number} width Of the view.
 * @property {number} height
 */

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Region */
/** @typedef {import('./label_places.js').Box} Box */

/** @param {Scene} scene @returns {Region} */
export function viewRegion({ width, height }) {
  return { left: 0, top: 0, right: width, bottom: height };
}

/**
 * The box of a node, on whole device pixels.
 * @param {Scene} scene
 * @param {number} node
 * @returns {Box}
 */
export function boxOf({ placement: { x, y, w, h }, dpr, ox, oy }, node) {
  const left = Math.round(x[node] * dpr) + ox;
  const top = Math.round(y[node] * dpr) + oy;
  return {
    left,
    top,
    width: Math.round((x[node] + w[node]) * dpr) + ox - left,
    height: Math.round((y[node] + h[node]) * dpr) + oy - top,
  };
}

/** @param {Scene} scene @param {Box} box @param {number} [margin] Pixels around the view that count as in view. */
export function isOutOfView(scene, { left, top, width, height }, margin = 0) {
  return left > scene.width + margin || top > scene.height + margin || left + width < -margin || top + height < -margin;
}

/**
 * Visits the nodes in a region: folders before their files; nothing inside a closed folder.
 * @param {Scene} scene
 * @param {Region} region
 * @param {(node: number, left: number, top: number, width: number, height: number, isTile: boolean) => void} visit
 *   `isTile`: whether it is a closed folder.
 */
export function visitNodes(scene, region, visit) {
  const { layout: { tree }, placement, dpr, ox, oy } = scene;
  const { x, y, w, h } = placement;
  for (let node = 0; node < tree.count;) {
    const left = Math.round(x[node] * dpr) + ox;
    const top = Math.round(y[node] * dpr) + oy;
    const right = Math.round((x[node] + w[node]) * dpr) + ox;
    const bottom = Math.round((y[node] + h[node]) * dpr) + oy;
    if (right <= region.left || left >= region.right || bottom <= region.top || top >= region.bottom) {
      node = tree.end[node];
      continue;
    }
    const isTile = tree.file[node] < 0 && isClosed(tree, placement, node);
    visit(node, left, top, right - left, bottom - top, isTile);
    node = isTile ? tree.end[node] : node + 1;
  }
}
