// Places for names that have no room in their cells: near their cells, without overlaps.

/** @typedef {{ left: number, top: number, width: number, height: number }} Box */

/** Distances of a name from its cell, in heights of a name. Nearer is better. */
const STEPS = [0.2, 1, 2, 3.2, 4.5, 6.5, 9, 12];
/** Right, left, below, above, and the diagonals. */
const DIRECTIONS = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, 1], [1, -1], [-1, -1]];

/**
 * @param {{ cell: Box, width: number, height: number }[]} labels
 * @param {Box[]} obstacles Boxes that no name may cover.
 * @param {{ width: number, height: number }} view
 * @returns {(Box | null)[]} `null` without room.
 */
export function placeLabels(labels, obstacles, view) {
  const occupied = [...obstacles];
  return labels.map(({ cell, width, height }) => {
    if (width > view.width || height > view.height) return null;
    for (const step of STEPS) {
      for (const [dx, dy] of DIRECTIONS) {
        const left = offsetFrom(cell.left, cell.width, width, dx, step * height);
        const top = offsetFrom(cell.top, cell.height, height, dy, step * height);
        const box = {
          left: Math.max(0, Math.min(left, view.width - width)),
          top: Math.max(0, Math.min(top, view.height - height)),
          width,
          height,
        };
        if (occupied.some((other) => isOverlapping(box, other))) continue;
        occupied.push(box);
        return box;
      }
    }
    return null;
  });
}

/**
 * The start of a label on one axis: after its cell, before it, or centered.
 * @param {number} cellStart
 * @param {number} cellLength
 * @param {number} length Of the label.
 * @param {number} direction
 * @param {number} distance
 */
function offsetFrom(cellStart, cellLength, length, direction, distance) {
  if (direction > 0) return cellStart + cellLength + distance;
  if (direction < 0) return cellStart - distance - length;
  return cellStart + (cellLength - length) / 2;
}

/** @param {Box} a @param {Box} b */
function isOverlapping(a, b) {
  const overlapsX = a.left < b.left + b.width && a.left + a.width > b.left;
  return overlapsX && a.top < b.top + b.height && a.top + a.height > b.top;
}
