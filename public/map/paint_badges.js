// The letters of holders, in their colors.

import { badgeOf } from '../app/holder.js';
import { boxOf } from './scene.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('../app/types.js').Lock} Lock */
/** @typedef {{ left: number, top: number, right: number, bottom: number }} Rectangle */

/** Height of a badge, in pixels of the map. */
export const BADGE_HEIGHT = 14;
const TEXT_PX = 10;
// More badges would hide the map around a small cell.
const MOST_OUTSIDE = 2;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {Lock} lock
 * @param {number} left Device pixels.
 * @param {number} top
 */
export function paintBadge(context, scene, lock, left, top) {
  const { palette, dpr } = scene;
  const { letters, slot } = badgeOf(lock.holder, lock.agentId, lock.userName);
  const width = badgeWidth(scene, lock);
  // A line of ground keeps the badge apart from the colors around it.
  context.fillStyle = palette.color.surface;
  context.fillRect(left - dpr, top - dpr, width + 2 * dpr, (BADGE_HEIGHT + 2) * dpr);
  context.fillStyle = palette.holders[slot];
  context.fillRect(left, top, width, BADGE_HEIGHT * dpr);
  context.fillStyle = palette.color.surface;
  context.font = `600 ${TEXT_PX * dpr}px ${palette.font}`;
  context.textBaseline = 'alphabetic';
  context.fillText(letters, left + 4 * dpr, top + 10.5 * dpr);
}

/** @param {Scene} scene @param {Lock} lock Device pixels. */
export function badgeWidth({ boldWidths, dpr }, lock) {
  const { letters } = badgeOf(lock.holder, lock.agentId, lock.userName);
  return Math.round((boldWidths.of(letters) + 8) * dpr);
}

/**
 * Badges beside cells that have no room for them, where they do not hide each other.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {{ node: number, locks: Lock[] }[]} cells
 */
export function paintBadgesBeside(context, scene, cells) {
  const { dpr } = scene;
  const height = BADGE_HEIGHT * dpr;
  /** @type {Rectangle[]} */
  const taken = [];
  for (const { node, locks } of cells) {
    const box = boxOf(scene, node);
    const middle = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    if (middle.x < 0 || middle.y < 0 || middle.x > scene.width || middle.y > scene.height) continue;
    const away = 3 * dpr + Math.max(box.width / 2, 5 * dpr);
    const shown = locks.slice(0, MOST_OUTSIDE);
    const width = shown.reduce((sum, lock) => sum + badgeWidth(scene, lock) + 3 * dpr, 0);
    const isLeft = middle.x + away + width > scene.width;
    let left = Math.round(isLeft ? middle.x - away - width : middle.x + away);
    const top = Math.round(Math.min(Math.max(middle.y - height / 2, dpr), scene.height - height - dpr));
    const place = { left, top, right: left + width, bottom: top + height };
    if (taken.some((other) => isOverlapping(place, other))) continue;
    taken.push(place);
    for (const lock of shown) {
      paintBadge(context, scene, lock, left, top);
      left += badgeWidth(scene, lock) + 3 * dpr;
    }
  }
}

/** @param {Rectangle} one @param {Rectangle} other */
function isOverlapping(one, other) {
  return one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;
}
