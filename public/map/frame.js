// The frame of a folder: the pixels at its edges that its files do not get.

/** Pixels of the line with the folder's name. */
export const HEADER = 17;
const INSET = 3;
const ROOT_INSET = 2;
/** The largest ratio of the sides of the inside of a folder that a frame may cause. */
const WORST_INSIDE = 9;

/**
 * Frames have the same pixels at every scale. A folder that is too small has none. Above that size, the frame grows
 * smoothly.
 * @param {number} width
 * @param {number} height
 * @param {boolean} isRoot The root needs no name.
 * @returns {{ inset: number, header: number }} Pixels at the left, the right and the bottom; pixels at the top.
 */
export function frameOf(width, height, isRoot) {
  if (isRoot) return { inset: ROOT_INSET, header: ROOT_INSET };
  const [spareWidth, spareHeight] = [spare(width, height), spare(height, width)];
  const inset = Math.min(INSET * share(Math.min(width, height), 14, 60), spareWidth / 2, spareHeight / 2);
  const header = inset + (HEADER - inset) * Math.min(share(width, 48, 56), share(height, 48, 56));
  return { inset, header: Math.min(header, Math.max(inset, spareHeight - inset)) };
}

/** @param {number} value @param {number} from @param {number} to */
function share(value, from, to) {
  return Math.min(1, Math.max(0, (value - from) / (to - from)));
}

/**
 * The pixels that a side can lose before the other is too long for it.
 * @param {number} side
 * @param {number} other
 */
function spare(side, other) {
  return Math.max(0, side - other / WORST_INSIDE);
}
