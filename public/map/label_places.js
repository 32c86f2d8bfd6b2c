// Where names stand that have no room in their cells: beside them, near, and not over one another.

/** @typedef {{ left: number, top: number, width: number, height: number }} Box */

/** How far from its cell a name may stand, in heights of a name: nearer is better. */
const STEPS = [0.2, 1, 2, 3.2, 4.5, 6.5, 9, 12];
/** Right, left, below, above, and between. */
const DIRECTIONS = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, 1], [1, -1], [-1, -1]];

/**
 * @param {{ cell: Box, width: number, height: number }[]} labels
 * @param {Box[]} obstacles What no name may hide.
 * @param {{ width: number, height: number }} view
 * @returns {(Box | null)[]} None where there is no room.
 */
export function placesOf(labels, obstacles, view) {
  const taken = [...obstacles];
  return labels.map(({ cell, width, height }) => {
    if (width > view.width || height > view.height) return null;
    for (const step of STEPS) {
      for (const [dx, dy] of DIRECTIONS) {
        const away = step * height;
        const left = dx > 0 ? cell.left + cell.width + away : dx < 0 ? cell.left - away - width : cell.left + (cell.width - width) / 2;
        const top = dy > 0 ? cell.top + cell.height + away : dy < 0 ? cell.top - away - height : cell.top + (cell.height - height) / 2;
        const box = { left: Math.max(0, Math.min(left, view.width - width)), top: Math.max(0, Math.min(top, view.height - height)), width, height };
        if (taken.some((other) => isOverlapping(box, other))) continue;
        taken.push(box);
        return box;
      }
    }
    return null;
  });
}

/** @param {Box} one @param {Box} other */
function isOverlapping(one, other) {
  return one.left < other.left + other.width && one.left + one.width > other.left && one.top < other.top + other.height && one.top + one.height > other.top;
}
