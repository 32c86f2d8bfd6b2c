import { boxOf } from './scene.js';

/** Length of a bracket's arm, at most, and its width, in pixels of the map. */
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
    const { left, top, width, height } = boxOf(scene, node);
    if (left > scene.width || top > scene.height || left + width < 0 || top + height < 0) continue;
    const [w, h] = [Math.max(4 * dpr, width), Math.max(4 * dpr, height)];
    const arm = Math.min(ARM * dpr, w / 2, h / 2);
    context.beginPath();
    for (const [x, y, right, down] of [[left, top, 1, 1], [left + w, top, -1, 1], [left, top + h, 1, -1], [left + w, top + h, -1, -1]]) {
      context.moveTo(x + right * arm, y);
      context.lineTo(x, y);
      context.lineTo(x, y + down * arm);
    }
    // A line of ground keeps the brackets apart from the colors of locks.
    for (const [style, line] of /** @type {const} */ ([[color.surface, 2 * LINE], [color.focus, LINE]])) {
      context.strokeStyle = style;
      context.lineWidth = line * dpr;
      context.stroke();
    }
  }
}
