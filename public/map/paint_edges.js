// Imports as curves, from the importer to what it imports: broad at the importer, with an arrow at the other end.

import { boxOf } from './scene.js';

/**
 * @typedef {object} EdgeGroup
 * @property {number[]} nodes Pairs: the node of the importer, then of the imported file.
 * @property {string} color
 * @property {number} alpha
 * @property {number} weight Width at the importer, in CSS pixels.
 * @property {boolean} [isBundled] Whether they run together by folder, as thin lines.
 */

const ARROW = 6;
const BEND = 0.14;
const MOST_BEND = 70;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {EdgeGroup[]} groups
 */
export function paintEdges(context, scene, groups) {
  for (const { nodes, color, alpha, weight, isBundled } of groups) {
    context.globalAlpha = alpha;
    if (isBundled) {
      paintBundle(context, scene, nodes, color, weight);
      continue;
    }
    context.fillStyle = color;
    context.beginPath();
    for (let index = 0; index < nodes.length; index += 2) {
      addEdge(context, scene, nodes[index], nodes[index + 1], weight);
    }
    context.fill();
  }
  context.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {number} importer
 * @param {number} imported
 * @param {number} weight
 */
function addEdge(context, scene, importer, imported, weight) {
  const { dpr, width, height } = scene;
  const from = centerOf(scene, importer);
  const to = centerOf(scene, imported);
  if (Math.max(from.x, to.x) < 0 || Math.min(from.x, to.x) > width) return;
  if (Math.max(from.y, to.y) < 0 || Math.min(from.y, to.y) > height) return;
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  if (length < 1) return;
  const bend = Math.min(length * BEND, MOST_BEND * dpr) / length;
  const middle = { x: (from.x + to.x) / 2 - dy * bend, y: (from.y + to.y) / 2 + dx * bend };
  // The direction of the curve where it arrives.
  const last = Math.hypot(to.x - middle.x, to.y - middle.y);
  const [ux, uy] = [(to.x - middle.x) / last, (to.y - middle.y) / last];
  const arrow = Math.min(ARROW * dpr, length / 2);
  const [neckX, neckY] = [to.x - ux * arrow, to.y - uy * arrow];
  const [nx, ny] = [-dy / length, dx / length];
  const broad = (weight * dpr) / 2;
  const narrow = Math.max(0.35 * dpr, broad * 0.3);
  const half = (broad + narrow) / 2;
  const wing = arrow * 0.45;
  context.moveTo(from.x + nx * broad, from.y + ny * broad);
  context.quadraticCurveTo(middle.x + nx * half, middle.y + ny * half, neckX - uy * narrow, neckY + ux * narrow);
  context.lineTo(neckX - uy * wing, neckY + ux * wing);
  context.lineTo(to.x, to.y);
  context.lineTo(neckX + uy * wing, neckY - ux * wing);
  context.lineTo(neckX + uy * narrow, neckY - ux * narrow);
  context.quadraticCurveTo(middle.x - nx * half, middle.y - ny * half, from.x - nx * broad, from.y - ny * broad);
  context.closePath();
}

/**
 * Lines that leave their folder and come to the other one together, so that few are seen where there are many.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {number[]} nodes
 * @param {string} color
 * @param {number} weight
 */
function paintBundle(context, scene, nodes, color, weight) {
  const { tree } = scene.layout;
  context.strokeStyle = color;
  context.lineWidth = weight * scene.dpr;
  context.beginPath();
  for (let index = 0; index < nodes.length; index += 2) {
    const [from, to] = [centerOf(scene, nodes[index]), centerOf(scene, nodes[index + 1])];
    const [out, into] = [centerOf(scene, tree.parent[nodes[index]]), centerOf(scene, tree.parent[nodes[index + 1]])];
    context.moveTo(from.x, from.y);
    context.bezierCurveTo(out.x, out.y, into.x, into.y, to.x, to.y);
  }
  context.stroke();
}

/** @param {import('./scene.js').Scene} scene @param {number} node */
function centerOf(scene, node) {
  const { left, top, width, height } = boxOf(scene, node);
  return { x: left + width / 2, y: top + height / 2 };
}
