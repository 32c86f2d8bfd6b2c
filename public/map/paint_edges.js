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
/** A line that many share is so many times as broad as that of one, and not more opaque than this. */
const [MOST_TIMES, MOST_ALPHA] = [4, 0.4];

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {EdgeGroup[]} groups
 */
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
 * Lines that follow the folders up from one file and down to the other. What several share is one line, the broader the more they are.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {EdgeGroup} group
 */
function paintBundle(context, scene, { nodes, color, alpha, weight }) {
  /** By the three nodes that a part goes by. @type {Map<string, { part: number[], count: number }>} */
  const parts = new Map();
  for (let index = 0; index < nodes.length; index += 2) {
    const way = wayBetween(scene.layout.tree, nodes[index], nodes[index + 1]);
    for (let place = 1; place < way.length - 1; place += 1) {
      const part = way.slice(place - 1, place + 2);
      const known = parts.get(part.join());
      if (known) known.count += 1;
      else parts.set(part.join(), { part, count: 1 });
    }
  }
  /** @type {Map<number, Path2D>} */
  const paths = new Map();
  for (const { part, count } of parts.values()) {
    const width = Math.min(MOST_TIMES, Math.round(Math.sqrt(count)));
    const path = paths.get(width) ?? new Path2D();
    paths.set(width, path);
    const { file } = scene.layout.tree;
    const [from, by, to] = part.map((node) => centerOf(scene, node));
    const [start, end] = [file[part[0]] < 0 ? middle(from, by) : from, file[part[2]] < 0 ? middle(by, to) : to];
    path.moveTo(start.x, start.y);
    path.quadraticCurveTo(by.x, by.y, end.x, end.y);
  }
  context.strokeStyle = color;
  for (const [width, path] of paths) {
    context.globalAlpha = Math.min(MOST_ALPHA, alpha * width);
    context.lineWidth = weight * width * scene.dpr;
    context.stroke(path);
  }
}

/** @param {{ x: number, y: number }} one @param {{ x: number, y: number }} other */
function middle(one, other) {
  return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
}

/**
 * @param {Pick<import('./tree.js').Tree, 'parent' | 'depth'>} tree
 * @param {number} from
 * @param {number} to
 * @returns {number[]} Both files and the folders between them; the folder that has both only where there is no other.
 */
export function wayBetween({ parent, depth }, from, to) {
  const [up, down] = [[from], [to]];
  while (parent[up[up.length - 1]] !== parent[down[down.length - 1]]) {
    const [one, other] = [up[up.length - 1], down[down.length - 1]];
    if (depth[one] >= depth[other]) up.push(parent[one]);
    if (depth[other] >= depth[one]) down.push(parent[other]);
  }
  if (up.length + down.length === 2) up.push(parent[from]);
  return [...up, ...down.reverse()];
}

/** @param {import('./scene.js').Scene} scene @param {number} node */
function centerOf(scene, node) {
  const { left, top, width, height } = boxOf(scene, node);
  return { x: left + width / 2, y: top + height / 2 };
}
