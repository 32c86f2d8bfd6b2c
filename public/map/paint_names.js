// Names and badges of locked files whose cells have no room for them, with a line to the cell where they stand away from it.

import { placesOf } from './label_places.js';
import { BADGE_HEIGHT, badgeWidth, paintBadge } from './paint_badges.js';
import { boxOf } from './scene.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./lock_lights.js').Light} Light */

const TEXT_PX = 11;
const HEIGHT = BADGE_HEIGHT + 4;
/** Of the name of a locked file: a third of a narrow map, so that others have room. */
const MOST_WIDTH = 190;
/** More badges would hide the map around a small cell. */
const MOST_BADGES = 2;
/** So many names are placed in each frame; the others are found by pointing, in the table, and by zooming in. */
const MOST_NAMES = 80;

/** Where names stood when the map rested, from their cells: while it moves, they move along. @type {WeakMap<import('./layout.js').Layout, Map<number, { dx: number, dy: number }>>} */
const rested = new WeakMap();

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {{ node: number, light: Light, isBadged: boolean }[]} cells Those without a name, and whether they have their badges.
 * @param {{ left: number, top: number, width: number, height: number }[]} locked Boxes of all locked cells in view.
 * @param {boolean} isMoving Whether the camera moves.
 */
export function paintNamesBeside(context, scene, cells, locked, isMoving) {
  const { dpr, palette, boldWidths, layout: { tree } } = scene;
  const mostWidth = Math.min(MOST_WIDTH, scene.width / dpr / 3);
  const labels = cells.slice(0, MOST_NAMES).map(({ node, light, isBadged }) => {
    const text = boldWidths.fit(tree.name[node], mostWidth * (10 / TEXT_PX));
    const badges = isBadged ? [] : light.locks.slice(0, MOST_BADGES);
    const badgesWidth = badges.reduce((sum, lock) => sum + badgeWidth(scene, lock) + 3 * dpr, 0);
    return { node, light, text, badges, cell: boxOf(scene, node), width: badgesWidth + (boldWidths.of(text) * (TEXT_PX / 10) + 8) * dpr, height: HEIGHT * dpr };
  });
  const kept = rested.get(scene.layout);
  const places = isMoving && kept
    ? labels.map(({ node, cell, width, height }) => {
      const away = kept.get(node);
      return away ? { left: cell.left + away.dx, top: cell.top + away.dy, width, height } : null;
    })
    : placesOf(labels, locked, scene);
  if (!isMoving) {
    rested.set(scene.layout, new Map(labels.flatMap(({ node, cell }, index) => {
      const place = places[index];
      return place ? [[node, { dx: place.left - cell.left, dy: place.top - cell.top }]] : [];
    })));
  }
  labels.forEach(({ cell, light, text, badges, width, height }, index) => {
    const place = places[index];
    if (!place) return;
    const color = light.mark === 'WRITING' ? palette.color.writing : palette.color.reading;
    context.strokeStyle = color;
    context.lineWidth = dpr;
    paintLine(context, cell, place);
    context.fillStyle = palette.color.surface;
    context.fillRect(place.left, place.top, width, height);
    context.strokeRect(place.left, place.top, width, height);
    let left = place.left + 3 * dpr;
    for (const lock of badges) {
      paintBadge(context, scene, lock, left, place.top + 2 * dpr);
      left += badgeWidth(scene, lock) + 3 * dpr;
    }
    context.fillStyle = palette.color.ink;
    context.font = `600 ${TEXT_PX * dpr}px ${palette.font}`;
    context.textBaseline = 'alphabetic';
    context.fillText(text, left + dpr, place.top + 13 * dpr);
  });
}

/**
 * From the middle of the cell to the nearest point of its name.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./label_places.js').Box} cell
 * @param {import('./label_places.js').Box} place
 */
function paintLine(context, cell, place) {
  const x = cell.left + cell.width / 2;
  const y = cell.top + cell.height / 2;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(Math.min(Math.max(x, place.left), place.left + place.width), Math.min(Math.max(y, place.top), place.top + place.height));
  context.stroke();
}
