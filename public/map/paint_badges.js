// The letters of holders, in their colors.

import { badgeOf } from '../app/holder.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('../app/types.js').Lock} Lock */

/** Height of a badge, in pixels of the map. */
export const BADGE_HEIGHT = 14;
const TEXT_PX = 10;

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
  // A line in the surface color separates the badge from the colors around it.
  context.fillStyle = palette.color.surface;
  fillBox(context, slot, left - dpr, top - dpr, width + 2 * dpr, (BADGE_HEIGHT + 2) * dpr);
  context.fillStyle = palette.holders[slot];
  fillBox(context, slot, left, top, width, BADGE_HEIGHT * dpr);
  context.fillStyle = palette.color.surface;
  context.font = `600 ${TEXT_PX * dpr}px ${palette.font}`;
  context.textBaseline = 'alphabetic';
  context.fillText(letters, left + 4 * dpr, top + 10.5 * dpr);
}

/**
 * Every other color has round ends, for users who cannot distinguish all colors.
 * @param {CanvasRenderingContext2D} context
 * @param {number} slot
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 */
function fillBox(context, slot, left, top, width, height) {
  if (slot % 2 === 0) {
    context.fillRect(left, top, width, height);
    return;
  }
  context.beginPath();
  context.roundRect(left, top, width, height, height / 2);
  context.fill();
}

/** @param {Scene} scene @param {Lock} lock @returns {number} Device pixels. */
export function badgeWidth({ boldWidths, dpr }, lock) {
  const { letters } = badgeOf(lock.holder, lock.agentId, lock.userName);
  return Math.round((boldWidths.of(letters) + 8) * dpr);
}
