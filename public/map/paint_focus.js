// Outlines of the selected files, and of the file under the pointer.

import { boxOf, isOutOfView } from './scene.js';

const TAG_PX = 11;
const TAG_HEIGHT = 17;
const MAX_TAG_WIDTH = 260;

/**
 * Outlines the selected file, the files connected to it, the files of the selected agent, and the file under the
 * pointer.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {object} nodes
 * @param {number} nodes.selected -1 without one.
 * @param {number[]} nodes.connectedNodes
 * @param {number[]} nodes.agentNodes
 * @param {number} nodes.hovered -1 without one.
 */
export function paintFocus(context, scene, { selected, connectedNodes, agentNodes, hovered }) {
  const { palette: { color }, dpr } = scene;
  for (const node of connectedNodes) outline(context, scene, node, color.accent, dpr);
  for (const node of agentNodes) outlineFocus(context, scene, node);
  if (hovered > 0 && hovered !== selected) outline(context, scene, hovered, color.soft, 1.5 * dpr);
  if (selected >= 0) {
    outlineFocus(context, scene, selected);
    paintTag(context, scene, selected);
  }
}

/** @param {CanvasRenderingContext2D} context @param {import('./scene.js').Scene} scene @param {number} node */
function outlineFocus(context, scene, node) {
  const { palette: { color }, dpr } = scene;
  outline(context, scene, node, color.ground, 5 * dpr);
  outline(context, scene, node, color.focus, 2.5 * dpr);
}

/**
 * Names a cell that has no room for its name.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {number} node
 */
function paintTag(context, scene, node) {
  const { palette, boldWidths, dpr, layout: { tree } } = scene;
  const box = boxOf(scene, node);
  if (isOutOfView(scene, box)) return;
  // Many files share a name, so the tag includes the folder.
  const name = boldWidths.fit(tree.path[node].split('/').slice(-2).join('/'), MAX_TAG_WIDTH);
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
  const box = boxOf(scene, node);
  if (isOutOfView(scene, box)) return;
  context.strokeStyle = color;
  context.lineWidth = line;
  context.strokeRect(box.left - 0.5, box.top - 0.5, Math.max(3, box.width), Math.max(3, box.height));
}
