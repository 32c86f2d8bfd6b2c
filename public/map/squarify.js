// Divides a rectangle among weights so that the parts are as square as possible (Bruls, Huizing and van Wijk, "Squarified treemaps").

/**
 * As `squarify`, but no part is more than `bound` times as long as wide, unless the rectangle itself is. Shares cannot stay exact then:
 * of two files, one a thousand times the other, the smaller would be a line. So the smallest weights are raised, as little as suffices.
 * @param {Float64Array} weights Largest first, all above 0. They may be raised in place.
 * @param {number} width
 * @param {number} height
 * @param {number} bound
 * @param {Float64Array} parts Of each weight: left, top, width, height.
 * @returns {number} The worst ratio of the longer to the shorter side.
 */
export function squarifyBounded(weights, width, height, bound, parts) {
  let worst = squarify(weights, width, height, parts);
  const largest = weights[0];
  for (let floor = largest / 4096; worst > bound && floor < largest * 1.5; floor *= 1.4) {
    const least = Math.min(floor, largest);
    for (let index = weights.length - 1; index >= 0 && weights[index] < least; index--) weights[index] = least;
    worst = squarify(weights, width, height, parts);
  }
  return worst;
}

/**
 * @param {Float64Array} weights Largest first, all above 0.
 * @param {number} width
 * @param {number} height
 * @param {Float64Array} parts Of each weight: left, top, width, height.
 * @returns {number} The worst ratio of the longer to the shorter side.
 */
export function squarify(weights, width, height, parts) {
  const count = weights.length;
  let rest = 0;
  for (let index = 0; index < count; index++) rest += weights[index];
  const areaOfOne = (width * height) / rest;
  let [left, top, restWidth, restHeight] = [0, 0, width, height];
  let worst = 1;
  for (let start = 0; start < count;) {
    const side = Math.min(restWidth, restHeight);
    const { end, sum } = rowAt(weights, start, side, areaOfOne);
    const isColumn = restWidth >= restHeight;
    // The last row takes what is left, so that rounding leaves no gap.
    const depth = end === count ? Math.max(restWidth, restHeight) : (sum * areaOfOne) / side;
    let along = isColumn ? top : left;
    for (let index = start; index < end; index++) {
      const length = (side * weights[index]) / sum;
      parts[index * 4] = isColumn ? left : along;
      parts[index * 4 + 1] = isColumn ? along : top;
      parts[index * 4 + 2] = isColumn ? depth : length;
      parts[index * 4 + 3] = isColumn ? length : depth;
      along += length;
      worst = Math.max(worst, length / depth, depth / length);
    }
    if (isColumn) {
      left += depth;
      restWidth -= depth;
    } else {
      top += depth;
      restHeight -= depth;
    }
    start = end;
  }
  return worst;
}

/**
 * The weights from `start` that make the best row along a side: one more would make the worst of its parts worse.
 * @param {Float64Array} weights
 * @param {number} start
 * @param {number} side
 * @param {number} areaOfOne
 */
function rowAt(weights, start, side, areaOfOne) {
  const square = (side * side) / areaOfOne;
  const largest = weights[start];
  let sum = 0;
  let best = Infinity;
  let end = start;
  while (end < weights.length) {
    const next = sum + weights[end];
    const ratio = Math.max((square * largest) / (next * next), (next * next) / (square * weights[end]));
    if (ratio > best) break;
    best = ratio;
    sum = next;
    end += 1;
  }
  return { end, sum };
}
