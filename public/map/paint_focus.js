import { boxOf } from './scene.js';

/**
 * Outlines the selected file, what it imports and what imports it, and what is under the pointer. -1 is none.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {{ selected: number, connected: number[], hovered: number }} nodes
 */
export function paintFocus(context, scene, { selected, connected, hovered }) {
  const { palette: { color }, dpr } = scene;
  for (const node of connected) outline(context, scene, node, color.accent, dpr);
  if (hovered > 0 && hovered !== selected) outline(context, scene, hovered, color.soft, 1.5 * dpr);
  if (selected >= 0) {
    outline(context, scene, selected, color.ground, 5 * dpr);
    outline(context, scene, selected, color.focus, 2.5 * dpr);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {number} node
 * @param {string} color
 * @param {number} line
 */
function outline(context, scene, node, color, line) {
  const { left, top, width, height } = boxOf(scene, node);
  if (left > scene.width || top > scene.height || left + width < 0 || top + height < 0) return;
  context.strokeStyle = color;
  context.lineWidth = line;
  context.strokeRect(left - 0.5, top - 0.5, Math.max(3, width), Math.max(3, height));
}
