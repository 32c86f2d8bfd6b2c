// Divides a rectangle among weights so that the parts are as square as possible (Bruls, Huizing and van Wijk,
// "Squarified treemaps").

/**
 * Like `squarify`, but no part is more than `bound` times as long as wide, unless the rectangle itself is. Exact shares
 * cannot guarantee that: if one file is a thousand times as large as another, the smaller would be a line. So this
 * function raises the smallest weights, by as little as necessary.
 * @param {Float64Array} weights Largest first, all above 0. The function may raise them in place.
 * @param {number} width
 * @param {number} height
 * @param {number} bound
 * @param {Float64Array} parts Receives left, top, width and height for each weight.
 * @returns {number} The worst ratio of the longer to the shorter side.
 */
export function squarifyBounded(weights, width, height, bound, parts) {
  let worst = squarify(weights, width, height, parts);
  const largest = weights[0];
  for (let floor = largest / 4096; worst > bound && floor < largest * 1.5; floor *= 1.4) {
    const minimum = Math.min(floor, largest);
    for (let index = weights.length - 1; index >= 0 && weights[index] < minimum; index--) weights[index] = minimum;
    worst = squarify(weights, width, height, parts);
  }
  return worst;
}

/**
 * @param {Float64Array} weights Largest first, all above 0.
 * @param {number} width
 * @param {number} height
 * @param {Float64Array} parts Receives left, top, width and height for each weight.
 * @returns {number} The worst ratio of the longer to the shorter side.
 */
export function squarify(weights, width, height, parts) {
  const count = weights.length;
  let total = 0;
  for (let index = 0; index < count; index++) total += weights[index];
  const areaPerWeight = (width * height) / total;
  let [left, top, restWidth, restHeight] = [0, 0, width, height];
  let worst = 1;
  for (let start = 0; start < count;) {
    const side = Math.min(restWidth, restHeight);
    const { end, sum } = rowAt(weights, start, side, areaPerWeight);
    const isColumn = restWidth >= restHeight;
    // The last row takes the remaining space, so that rounding leaves no gap.
    const depth = end === count ? Math.max(restWidth, restHeight) : (sum * areaPerWeight) / side;
    let offset = isColumn ? top : left;
    for (let index = start; index < end; index++) {
      const length = (side * weights[index]) / sum;
      parts[index * 4] = isColumn ? left : offset;
      parts[index * 4 + 1] = isColumn ? offset : top;
      parts[index * 4 + 2] = isColumn ? depth : length;
      parts[index * 4 + 3] = isColumn ? length : depth;
      offset += length;
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
 * The weights from `start` that make the best row along a side. One more weight would make the worst ratio worse.
 * @param {Float64Array} weights
 * @param {number} start
 * @param {number} side
 * @param {number} areaPerWeight
 */
function rowAt(weights, start, side, areaPerWeight) {
  const square = (side * side) / areaPerWeight;
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
