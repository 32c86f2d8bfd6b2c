// An animated GIF of screenshots: each frame has only the pixels that differ from the frame before.

import gifenc from 'gifenc';
import { PNG } from 'pngjs';

const { GIFEncoder, applyPalette, quantize } = gifenc;

const COLORS = 255;
const UNCHANGED = 255;

/** @param {Buffer[]} pictures PNGs of one size @param {number} delay milliseconds of each @returns {Uint8Array} */
export function encodeAnimation(pictures, delay) {
  const frames = pictures.map((picture) => PNG.sync.read(picture));
  // The page has few colors: those of the first and the last frame serve all.
  const palette = quantize(Buffer.concat([frames[0].data, frames[frames.length - 1].data]), COLORS);
  const encoder = GIFEncoder();
  /** @type {Uint8Array | undefined} */
  let before;
  for (const { data, width, height } of frames) {
    const indexes = applyPalette(data, palette);
    const shown = indexes.map((index, at) => (before?.[at] === index ? UNCHANGED : index));
    encoder.writeFrame(shown, width, height, {
      palette: before ? undefined : padPalette(palette),
      delay,
      transparent: before !== undefined,
      transparentIndex: UNCHANGED,
      dispose: 1,
    });
    before = indexes;
  }
  encoder.finish();
  return encoder.bytes();
}

/** @param {number[][]} palette with a place for unchanged pixels @returns {number[][]} */
function padPalette(palette) {
  const all = palette.slice(0, COLORS);
  while (all.length <= UNCHANGED) all.push([0, 0, 0]);
  return all;
}
