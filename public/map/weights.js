// How much room a file gets. Both measures are damped, so that one large file does not fill the map.

/** @typedef {import('../app/types.js').Graph} Graph */
/** @typedef {'size' | 'importers'} Measure */

// The area of the largest cell is at most this many times that of the smallest.
const LARGEST_RATIO = 24;
// Below this size, all files get the same room.
const SMALL_FILE_BYTES = 512;

/** @param {Graph} graph @param {Measure} measure @returns {Float64Array} A weight of at least 1 for each file. */
export function weightsOf(graph, measure) {
  const weights = new Float64Array(graph.files.length);
  for (let file = 0; file < weights.length; file++) {
    weights[file] = measure === 'size'
      ? weightOfSize(graph.files[file].size)
      : weightOfImporters(graph.importers[file]?.length ?? 0);
  }
  return weights;
}

/**
 * The weight changes in steps of an eighth of a doubling, so that a few new lines in a file do not change the map.
 * @param {number} bytes
 */
export function weightOfSize(bytes) {
  const exact = Math.sqrt(Math.max(bytes || 0, SMALL_FILE_BYTES) / SMALL_FILE_BYTES);
  return Math.min(2 ** (Math.round(Math.log2(exact) * 8) / 8), LARGEST_RATIO);
}

/** @param {number} count */
export function weightOfImporters(count) {
  return Math.min(Math.sqrt(1 + count), LARGEST_RATIO);
}
