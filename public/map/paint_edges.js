// Draws imports as curves from the importer to the imported file: wide at the importer, with an arrow at the other end.

import { boxOf } from './scene.js';

/**
 * @typedef {object} EdgeGroup
 * @property {number[]} nodes Pairs: the node of the importer, then of the imported file.
 * @property {string} color
 * @property {number} alpha
 * @property {number} weight Width at the importer, in CSS pixels.
 * @property {boolean} [isBundled] Whether the edges run together along the folders, as thin lines.
 */

const ARROW = 6;
const BEND = 0.14;
const MAX_BEND = 70;
// A line that many edges share is at most this many times as wide as the line of one edge.
const MAX_WIDTH_FACTOR = 4;
const MAX_BUNDLE_ALPHA = 0.4;

/** @param {CanvasRenderingContext2D} context @param {import('./scene.js').Scene} scene @param {EdgeGroup[]} groups */
export function paintEdges(context, scene, groups) {
  for (const group of groups) {
    const { nodes, color, alpha, weight, isBundled } = group;
    if (isBundled) {
      paintBundle(context, scene, group);
      continue;
    }
    context.globalAlpha = alpha;
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
  const bend = Math.min(length * BEND, MAX_BEND * dpr) / length;
  const control = { x: (from.x + to.x) / 2 - dy * bend, y: (from.y + to.y) / 2 + dx * bend };
  // The direction of the curve at its end.
  const endLength = Math.hypot(to.x - control.x, to.y - control.y);
  const [ux, uy] = [(to.x - control.x) / endLength, (to.y - control.y) / endLength];
  const arrow = Math.min(ARROW * dpr, length / 2);
  const [neckX, neckY] = [to.x - ux * arrow, to.y - uy * arrow];
  const [nx, ny] = [-dy / length, dx / length];
  // Half of the width at the importer, at the neck of the arrow, and between both.
  const wide = (weight * dpr) / 2;
  const narrow = Math.max(0.35 * dpr, wide * 0.3);
  const medium = (wide + narrow) / 2;
  const wing = arrow * 0.45;
  context.moveTo(from.x + nx * wide, from.y + ny * wide);
  context.quadraticCurveTo(
    control.x + nx * medium, control.y + ny * medium, neckX - uy * narrow, neckY + ux * narrow,
  );
  context.lineTo(neckX - uy * wing, neckY + ux * wing);
  context.lineTo(to.x, to.y);
  context.lineTo(neckX + uy * wing, neckY - ux * wing);
  context.lineTo(neckX + uy * narrow, neckY - ux * narrow);
  context.quadraticCurveTo(control.x - nx * medium, control.y - ny * medium, from.x - nx * wide, from.y - ny * wide);
  context.closePath();
}

/**
 * Draws lines along the folders, up from one file and down to the other. Edges that share a segment share one line: the
 * more edges, the wider the line.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {EdgeGroup} group
 */
function paintBundle(context, scene, { nodes, color, alpha, weight }) {
  const { tree } = scene.layout;
  /** By the three nodes of the segment. @type {Map<string, { segment: number[], count: number }>} */
  const segments = new Map();
  for (let index = 0; index < nodes.length; index += 2) {
    const route = routeBetween(tree, nodes[index], nodes[index + 1]);
    for (let position = 1; position < route.length - 1; position += 1) {
      const segment = route.slice(position - 1, position + 2);
      const shared = segments.get(segment.join());
      if (shared) shared.count += 1;
      else segments.set(segment.join(), { segment, count: 1 });
    }
  }
  /** @type {Map<number, Path2D>} By width. */
  const paths = new Map();
  for (const { segment, count } of segments.values()) {
    const width = Math.min(MAX_WIDTH_FACTOR, Math.round(Math.sqrt(count)));
    const path = paths.get(width) ?? new Path2D();
    paths.set(width, path);
    const [from, via, to] = segment.map((node) => centerOf(scene, node));
    const start = tree.file[segment[0]] < 0 ? middleOf(from, via) : from;
    const end = tree.file[segment[2]] < 0 ? middleOf(via, to) : to;
    path.moveTo(start.x, start.y);
    path.quadraticCurveTo(via.x, via.y, end.x, end.y);
  }
  context.strokeStyle = color;
  for (const [width, path] of paths) {
    context.globalAlpha = Math.min(MAX_BUNDLE_ALPHA, alpha * width);
    context.lineWidth = weight * width * scene.dpr;
    context.stroke(path);
  }
}

/** @param {{ x: number, y: number }} from @param {{ x: number, y: number }} to */
function middleOf(from, to) {
  return { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
}

/**
 * The route from one file to another along the folders of the tree.
 * @param {Pick<import('./tree.js').Tree, 'parent' | 'depth'>} tree
 * @param {number} from
 * @param {number} to
 * @returns {number[]} Both files and the folders between them. The common folder is left out if there is another one.
 */
export function routeBetween({ parent, depth }, from, to) {
  const [up, down] = [[from], [to]];
  while (parent[up[up.length - 1]] !== parent[down[down.length - 1]]) {
    const [lastUp, lastDown] = [up[up.length - 1], down[down.length - 1]];
    if (depth[lastUp] >= depth[lastDown]) up.push(parent[lastUp]);
    if (depth[lastDown] >= depth[lastUp]) down.push(parent[lastDown]);
  }
  if (up.length + down.length === 2) up.push(parent[from]);
  return [...up, ...down.reverse()];
}

/** @param {import('./scene.js').Scene} scene @param {number} node */
function centerOf(scene, node) {
  const { left, top, width, height } = boxOf(scene, node);
  return { x: left + width / 2, y: top + height / 2 };
}
