import { boxOf } from './scene.js';

const TAG_PX = 11;
const TAG_HEIGHT = 17;
const MOST_TAG_WIDTH = 260;

/**
 * Outlines the selected file, what it imports and what imports it, and what is under the pointer. -1 is none.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {{ selected: number, connected: number[], chosen: number[], hovered: number }} nodes `chosen`: files of the selected agent.
 */
export function paintFocus(context, scene, { selected, connected, chosen, hovered }) {
  const { palette: { color }, dpr } = scene;
  for (const node of connected) outline(context, scene, node, color.accent, dpr);
  for (const node of chosen) {
    outline(context, scene, node, color.ground, 5 * dpr);
    outline(context, scene, node, color.focus, 2.5 * dpr);
  }
  if (hovered > 0 && hovered !== selected) outline(context, scene, hovered, color.soft, 1.5 * dpr);
  if (selected >= 0) {
    outline(context, scene, selected, color.ground, 5 * dpr);
    outline(context, scene, selected, color.focus, 2.5 * dpr);
    tag(context, scene, selected);
  }
}

/**
 * Names a cell that has no room for its name.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {number} node
 */
function tag(context, scene, node) {
  const { palette, boldWidths, dpr, layout: { tree } } = scene;
  const box = boxOf(scene, node);
  if (box.left > scene.width || box.top > scene.height || box.left + box.width < 0 || box.top + box.height < 0) return;
  // Many files have one name: with the folder it says which.
  const name = boldWidths.fit(tree.path[node].split('/').slice(-2).join('/'), MOST_TAG_WIDTH);
  const width = (boldWidths.of(name) * (TAG_PX / 10) + 10) * dpr;
  if (box.width > width + 18 * dpr && box.height > 2 * TAG_HEIGHT * dpr) return;
  const height = TAG_HEIGHT * dpr;
  const left = Math.min(Math.max(box.left, 0), scene.width - width);
  const above = box.top - height - 3 * dpr;
  const top = above >= 0 ? above : box.top + box.height + 3 * dpr;
  context.fillStyle = palette.color.focus;
  context.fillRect(left, top, width, height);
  context.fillStyle = palette.color.surface;
  context.font = `600 ${TAG_PX * dpr}px ${palette.font}`;
  context.textBaseline = 'alphabetic';
  context.fillText(name, left + 5 * dpr, top + 12.5 * dpr);
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
