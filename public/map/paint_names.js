// Names and badges of locked files whose cells have no room for them, beside the cells, with lines to the cells.

import { placeLabels } from './label_places.js';
import { BADGE_HEIGHT, badgeWidth, paintBadge } from './paint_badges.js';
import { boxOf } from './scene.js';

/** @import { Box, Scene } from './scene.js' */
/** @import { Light } from './lock_lights.js' */
/** @typedef {{ dx: number, dy: number }} Offset From a cell to its name. */

const TEXT_PX = 11;
const HEIGHT = BADGE_HEIGHT + 4;
/** Largest width of a name. On a narrow map, it is a third of the map, so that other names have room. */
const MAX_WIDTH = 190;
/** More badges would hide the map around a small cell. */
const MAX_BADGES = 2;
/** Maximum number of names in a frame. The user finds the others by pointing, by zooming in, and in the table. */
const MAX_NAMES = 80;

/**
 * The offsets of names when the map last rested, by node. While the map moves, names keep them.
 * @type {WeakMap<import('./layout.js').Layout, Map<number, Offset>>}
 */
const restOffsets = new WeakMap();

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {{ node: number, light: Light, hasBadges: boolean }[]} cells Cells without a name; `hasBadges`: with badges.
 * @param {Box[]} locked Boxes of all locked cells in view.
 * @param {boolean} isMoving Whether the camera moves.
 */
export function paintNamesBeside(context, scene, cells, locked, isMoving) {
  const { dpr, palette, boldWidths, layout: { tree } } = scene;
  const maxWidth = Math.min(MAX_WIDTH, scene.width / dpr / 3);
  const labels = cells.slice(0, MAX_NAMES).map(({ node, light, hasBadges }) => {
    const text = boldWidths.fit(tree.name[node], maxWidth * (10 / TEXT_PX));
    const textWidth = (boldWidths.of(text) * (TEXT_PX / 10) + 8) * dpr;
    const badges = hasBadges ? [] : light.locks.slice(0, MAX_BADGES);
    const badgesWidth = badges.reduce((sum, lock) => sum + badgeWidth(scene, lock) + 3 * dpr, 0);
    const size = { width: badgesWidth + textWidth, height: HEIGHT * dpr };
    return { node, light, text, badges, cell: boxOf(scene, node), ...size };
  });
  const offsets = isMoving ? restOffsets.get(scene.layout) : undefined;
  const places = offsets
    ? labels.map(({ node, cell, width, height }) => {
      const offset = offsets.get(node);
      return offset ? { left: cell.left + offset.dx, top: cell.top + offset.dy, width, height } : null;
    })
    : placeLabels(labels, locked, scene);
  if (!isMoving) {
    /** @type {Map<number, Offset>} */
    const nextOffsets = new Map();
    labels.forEach(({ node, cell }, index) => {
      const place = places[index];
      if (place) nextOffsets.set(node, { dx: place.left - cell.left, dy: place.top - cell.top });
    });
    restOffsets.set(scene.layout, nextOffsets);
  }
  labels.forEach(({ cell, light, text, badges, width, height }, index) => {
    const place = places[index];
    if (!place) return;
    context.strokeStyle = light.mark === 'WRITING' ? palette.color.writing : palette.color.reading;
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
 * Paints a line from the middle of the cell to the nearest point of its name.
 * @param {CanvasRenderingContext2D} context
 * @param {Box} cell
 * @param {Box} name
 */
function paintLine(context, cell, name) {
  const x = cell.left + cell.width / 2;
  const y = cell.top + cell.height / 2;
  const nearestX = Math.min(Math.max(x, name.left), name.left + name.width);
  const nearestY = Math.min(Math.max(y, name.top), name.top + name.height);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(nearestX, nearestY);
  context.stroke();
}
