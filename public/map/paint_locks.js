// Locks and neighbors. Their shapes differ without color, on cells of any size: WRITING is solid, READING an outline, a
// blocked neighbor hatched, another neighbor dotted.

import { drawIcon } from './icons.js';
import { breakLines, labelSize } from './label_text.js';
import { pulseOf, strengthOf } from './lock_lights.js';
import { BADGE_HEIGHT, badgeWidth, paintBadge } from './paint_badges.js';
import { paintNamesBeside } from './paint_names.js';
import { boxOf, isOutOfView } from './scene.js';

/** @import { Box, Scene } from './scene.js' */
/** @import { Light } from './lock_lights.js' */

/** A lock on a smaller cell gets a marker of this size, so that it stays visible. */
const MARKER = { WRITING: 9, READING: 9, NEIGHBOR: 6, INFORMED: 4 };
const ICON = 12;
const MIN_NAME_PX = 11;
const LINE = 1.2;
const HATCH_PX = 6;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Light[]} lights In the order to draw.
 * @param {(path: string) => number} nodeOf -1 for a file that the graph does not have.
 * @param {number} now
 * @param {boolean} isMoving Whether the camera moves.
 */
export function paintLocks(context, scene, lights, nodeOf, now, isMoving) {
  const hatch = hatchOf(context, scene);
  /** @type {{ node: number, light: Light, hasBadges: boolean }[]} */
  const unnamed = [];
  /** @type {Box[]} */
  const locked = [];
  for (const light of lights) {
    const node = nodeOf(light.path);
    if (node < 0) continue;
    const box = boxOf(scene, node);
    if (isOutOfView(scene, box, 16 * scene.dpr)) continue;
    context.globalAlpha = strengthOf(light, now);
    const minSide = MARKER[light.mark] * scene.dpr;
    const isSmall = box.width < minSide || box.height < minSide;
    if (isSmall) paintMarker(context, scene, light, box, minSide);
    const isNamed = !isSmall && paintCell(context, scene, light, box, node, hatch);
    if (light.locks.length > 0) {
      locked.push(box);
      if (light.endedAt === null && !isNamed) unnamed.push({ node, light, hasBadges: hasRoomForBadges(scene, box) });
    }
    paintPulse(context, scene, light, box, pulseOf(light, now));
  }
  context.globalAlpha = 1;
  paintNamesBeside(context, scene, unnamed, locked, isMoving);
}

/** @param {Scene} scene @param {Box} box */
function hasRoomForBadges({ dpr }, { width, height }) {
  return width >= 28 * dpr && height >= (ICON + BADGE_HEIGHT + 10) * dpr;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Light} light
 * @param {Box} box
 * @param {number} minSide
 */
function paintMarker(context, { palette: { color }, dpr }, { mark }, box, minSide) {
  const isSquare = mark === 'NEIGHBOR' || mark === 'INFORMED';
  const width = Math.round(isSquare ? minSide : Math.max(box.width, minSide));
  const height = Math.round(isSquare ? minSide : Math.max(box.height, minSide));
  const left = Math.round(box.left + (box.width - width) / 2);
  const top = Math.round(box.top + (box.height - height) / 2);
  const line = Math.max(1, Math.round(dpr));
  // A ring in the ground color separates it from the cells around it.
  context.fillStyle = color.ground;
  context.fillRect(left - line, top - line, width + 2 * line, height + 2 * line);
  if (mark === 'WRITING') {
    context.fillStyle = color.writing;
    context.fillRect(left, top, width, height);
  } else if (mark === 'READING') {
    context.strokeStyle = color.reading;
    context.lineWidth = 2 * line;
    context.strokeRect(left + line, top + line, width - 2 * line, height - 2 * line);
  } else {
    context.fillStyle = color.neighbor;
    context.beginPath();
    context.moveTo(left, top + height);
    context.lineTo(left + width, top + height);
    context.lineTo(left + width, top);
    context.fill();
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Light} light
 * @param {Box} box
 * @param {number} node
 * @param {CanvasPattern | null} hatch
 * @returns {boolean} Whether the cell shows its whole name.
 */
function paintCell(context, scene, { mark, locks }, box, node, hatch) {
  const { palette, dpr } = scene;
  const { color } = palette;
  const gap = Math.max(1, Math.round(dpr * 0.75));
  const { left, top } = box;
  const width = box.width - gap;
  const height = box.height - gap;
  const line = Math.min(2, Math.max(1, Math.min(width, height) / dpr / 8)) * dpr;
  if (mark === 'NEIGHBOR' || mark === 'INFORMED') {
    if (hatch && mark === 'NEIGHBOR') {
      context.fillStyle = hatch;
      context.fillRect(left, top, width, height);
    }
    context.strokeStyle = color.neighbor;
    context.lineWidth = dpr;
    context.setLineDash(mark === 'NEIGHBOR' ? [3 * dpr, 2 * dpr] : [dpr, 2 * dpr]);
    context.strokeRect(left + dpr / 2, top + dpr / 2, width - dpr, height - dpr);
    context.setLineDash([]);
    if (mark === 'NEIGHBOR' && width >= 64 * dpr && height >= 34 * dpr) {
      const [iconLeft, iconTop] = [left + width - (ICON + 4) * dpr, top + height - (ICON + 4) * dpr];
      drawIcon(context, mark, iconLeft, iconTop, ICON * dpr, color.neighbor);
    }
    return false;
  }
  context.fillStyle = mark === 'WRITING' ? color.writing : color['reading-ground'];
  context.fillRect(left, top, width, height);
  if (mark === 'READING') {
    context.strokeStyle = color.reading;
    context.lineWidth = line;
    context.strokeRect(left + line / 2, top + line / 2, width - line, height - line);
  }
  return paintText(context, scene, mark, locks, box, node);
}

/**
 * Paints the icon, the name, and the badges of the holders, as far as there is room.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {'WRITING' | 'READING'} mark
 * @param {Light['locks']} locks
 * @param {Box} box
 * @param {number} node
 * @returns {boolean} Whether the cell shows its whole name.
 */
function paintText(context, scene, mark, locks, box, node) {
  const { palette, boldWidths, dpr, layout: { tree } } = scene;
  const { left, top, width, height } = box;
  const ink = mark === 'WRITING' ? palette.onWriting : palette.color.ink;
  const [roomX, roomY] = [width / dpr, height / dpr];
  if (roomX < 15 || roomY < 15) return false;
  const iconInk = mark === 'WRITING' ? palette.onWriting : palette.color.reading;
  const hasBadges = hasRoomForBadges(scene, box);
  const name = tree.name[node];
  const size = Math.max(MIN_NAME_PX, labelSize(boldWidths.of(name), roomX - ICON - 12, roomY, scene.width / dpr));
  const beside = breakLines(boldWidths, name, (roomX - ICON - 12) * (10 / size), 1);
  const below = beside.isWhole ? beside : breakLines(boldWidths, name, (roomX - 8) * (10 / size), 2);
  // If the name is below the icon, the badges are beside the icon.
  const isBelow = !beside.isWhole && below.isWhole && roomY >= ICON + 8 + below.lines.length * size * LINE;
  const isNamed = beside.isWhole || isBelow;
  const isIconAlone = !isNamed && !hasBadges;
  const [middleX, middleY] = [(roomX - ICON) / 2, (roomY - ICON) / 2];
  const insetX = isIconAlone ? middleX : 4;
  const insetY = isIconAlone ? middleY : Math.min(2.5 + (size - MIN_NAME_PX) / 2, middleY);
  drawIcon(context, mark, left + insetX * dpr, top + insetY * dpr, ICON * dpr, iconInk);
  if (isNamed) {
    context.font = `600 ${size * dpr}px ${palette.font}`;
    context.fillStyle = ink;
    context.textBaseline = 'alphabetic';
    below.lines.forEach((line, index) => {
      const base = isBelow ? ICON + 5 + size + index * size * LINE : size + 1.5;
      context.fillText(line, left + (isBelow ? 4 : ICON + 8) * dpr, top + base * dpr);
    });
  }
  if (!hasBadges) return isNamed;
  let badgeLeft = left + (isBelow ? ICON + 10 : 6) * dpr;
  const badgeTop = top + (isBelow ? 2 : Math.max(ICON, size) + 7) * dpr;
  for (const lock of locks) {
    const nextWidth = badgeWidth(scene, lock);
    if (badgeLeft + nextWidth > left + width - 2 * dpr) break;
    paintBadge(context, scene, lock, badgeLeft, badgeTop);
    badgeLeft += nextWidth + 5 * dpr;
  }
  return isNamed;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Light} light
 * @param {Box} box
 * @param {number} pulse
 */
function paintPulse(context, { palette: { color }, dpr }, { mark }, box, pulse) {
  if (pulse <= 0) return;
  const distance = (2 + 12 * (1 - pulse)) * dpr;
  context.globalAlpha = pulse * pulse;
  context.strokeStyle = mark === 'WRITING' ? color.writing : color.reading;
  context.lineWidth = 3 * dpr;
  context.strokeRect(
    box.left - distance, box.top - distance, box.width + 2 * distance, box.height + 2 * distance);
  context.globalAlpha = pulse * 0.35;
  context.fillStyle = color.ink;
  context.fillRect(box.left, box.top, box.width, box.height);
}

/** @type {WeakMap<import('./palette.js').Palette, { dpr: number, tile: HTMLCanvasElement }>} */
const tiles = new WeakMap();

/** @param {CanvasRenderingContext2D} context @param {Scene} scene */
function hatchOf(context, { palette, dpr, ox, oy }) {
  let cached = tiles.get(palette);
  if (cached?.dpr !== dpr) tiles.set(palette, cached = { dpr, tile: hatchTile(palette.color.neighbor, dpr) });
  const { tile } = cached;
  const pattern = context.createPattern(tile, 'repeat');
  // The lines move with the map.
  pattern?.setTransform(new DOMMatrix().translate(ox % tile.width, oy % tile.width));
  return pattern;
}

/** @param {string} color @param {number} dpr */
function hatchTile(color, dpr) {
  const size = Math.round(HATCH_PX * dpr);
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const lines = tile.getContext('2d');
  if (!lines) return tile;
  lines.strokeStyle = color;
  lines.globalAlpha = 0.4;
  lines.lineWidth = dpr;
  lines.beginPath();
  for (const start of [-size / 2, size / 2, size * 1.5]) {
    lines.moveTo(start - size, size * 1.5);
    lines.lineTo(start + size, -size / 2);
  }
  lines.stroke();
  return tile;
}
