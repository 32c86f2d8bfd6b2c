// The icons of locks as paths in a box of 16 pixels, because a canvas cannot use the symbols of the page.

/** @typedef {import('./lock_lights.js').Mark} Mark */

/** @type {Record<Exclude<Mark, 'INFORMED'>, string>} */
const OUTLINES = {
  WRITING: 'M2.5 13.5 3.2 10.4 10.9 2.7 13.3 5.1 5.6 12.8ZM9.3 4.3 11.7 6.7',
  READING: 'M1.5 8C4.5 3.2 11.5 3.2 14.5 8 11.5 12.8 4.5 12.8 1.5 8ZM8 6A2 2 0 1 1 8 10 2 2 0 1 1 8 6Z',
  NEIGHBOR: 'M6.7 9.3 9.3 6.7M7.6 4.9 9.3 3.2A2.5 2.5 0 0 1 12.8 6.7L11.1 8.4M8.4 11.1 6.7 12.8'
    + 'A2.5 2.5 0 0 1 3.2 9.3L4.9 7.6',
};

/** @type {Partial<Record<Mark, Path2D>>} */
const paths = {};

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Exclude<Mark, 'INFORMED'>} mark
 * @param {number} left
 * @param {number} top
 * @param {number} size
 * @param {string} color
 */
export function drawIcon(context, mark, left, top, size, color) {
  const path = paths[mark] ??= new Path2D(OUTLINES[mark]);
  context.save();
  context.translate(left, top);
  context.scale(size / 16, size / 16);
  context.strokeStyle = color;
  context.lineWidth = 1.6;
  context.lineJoin = 'round';
  context.lineCap = 'round';
  context.setLineDash([]);
  context.stroke(path);
  context.restore();
}
