import { boxOf, isOutOfView } from './scene.js';

/** Largest length of a bracket's arm, and its width, in pixels of the map. */
const ARM = 9;
const LINE = 2.5;

/**
 * Marks the files that the selected intent owns by brackets at their corners: no lock and no selection has this shape.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {number[]} nodes
 */
export function paintOwned(context, scene, nodes) {
  const { palette: { color }, dpr } = scene;
  context.lineCap = 'butt';
  for (const node of nodes) {
    const box = boxOf(scene, node);
    if (isOutOfView(scene, box)) continue;
    const { left, top } = box;
    const [width, height] = [Math.max(4 * dpr, box.width), Math.max(4 * dpr, box.height)];
    const [right, bottom] = [left + width, top + height];
    const arm = Math.min(ARM * dpr, width / 2, height / 2);
    context.beginPath();
    const corners = [[left, top, 1, 1], [right, top, -1, 1], [left, bottom, 1, -1], [right, bottom, -1, -1]];
    for (const [x, y, dx, dy] of corners) {
      context.moveTo(x + dx * arm, y);
      context.lineTo(x, y);
      context.lineTo(x, y + dy * arm);
    }
    // A line in the surface color separates the brackets from the colors of locks.
    for (const [style, line] of /** @type {const} */ ([[color.surface, 2 * LINE], [color.focus, LINE]])) {
      context.strokeStyle = style;
      context.lineWidth = line * dpr;
      context.stroke();
    }
  }
}
