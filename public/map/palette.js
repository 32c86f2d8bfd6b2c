// The colors and fonts of the canvas. The page reads them from the style sheet once for each theme.

import { canvasContext } from '../app/dom.js';

/** @typedef {[number, number, number]} Rgb */

const NAMES = /** @type {const} */ ([
  'ground', 'surface', 'line', 'ink', 'soft', 'accent', 'focus', 'folder', 'cell', 'writing', 'reading',
  'reading-ground', 'neighbor',
]);
const HOLDERS = 8;
// Share of the language's hue in a cell: just enough to tell the languages apart. Strong colors are for state.
const TINT = 0.05;
const DIMMED = 0.72;

/**
 * @typedef {object} Palette
 * @property {Record<typeof NAMES[number], string>} color
 * @property {string[]} holders
 * @property {string[]} folders Of the root, of odd depths, and of even depths.
 * @property {(language: string | null) => string} cell
 * @property {(language: string | null) => string} dimmedCell
 * @property {string} cellInk
 * @property {string} cellSoft
 * @property {string} folderInk Of the folders of the first level. Folders inside use `soft`.
 * @property {string} dimmedInk
 * @property {string} onWriting Ink on the color of WRITING.
 * @property {string} font
 */

/**
 * @param {HTMLElement} element The element whose tokens apply.
 * @returns {Palette}
 */
export function readPalette(element) {
  const probe = document.createElement('span');
  probe.className = 'map-probe';
  element.append(probe);
  const pixel = canvasContext(document.createElement('canvas'), { willReadFrequently: true });
  /** @param {string} token @returns {Rgb} */
  const rgb = (token) => {
    // The browser resolves `light-dark()` only in a used color. Only a pixel gives every notation as three numbers.
    probe.style.color = `var(--${token})`;
    pixel.fillStyle = getComputedStyle(probe).color;
    pixel.fillRect(0, 0, 1, 1);
    const [red, green, blue] = pixel.getImageData(0, 0, 1, 1).data;
    return [red, green, blue];
  };
  const color = /** @type {Palette['color']} */ (Object.fromEntries(NAMES.map((name) => [name, css(rgb(name))])));
  const [ground, cell, folder, ink, soft, writing] = ['ground', 'cell', 'folder', 'ink', 'soft', 'writing'].map(rgb);
  const holders = Array.from({ length: HOLDERS }, (_, slot) => css(rgb(`holder-${slot}`)));
  const font = getComputedStyle(probe).fontFamily;
  probe.remove();
  const tinted = memoize((language) => (language ? mix(cell, hueOf(language), TINT) : cell));
  return {
    color,
    holders,
    // The colors alternate, so that nested boxes differ. None comes near the color of cells.
    folders: [ground, folder, mix(folder, cell, -0.4)].map(css),
    cell: memoize((language) => css(tinted(language))),
    dimmedCell: memoize((language) => css(mix(tinted(language), folder, DIMMED))),
    cellInk: css(mix(ink, cell, 0.12)),
    cellSoft: css(soft),
    folderInk: css(mix(ink, soft, 0.3)),
    dimmedInk: css(mix(soft, folder, 0.5)),
    onWriting: luminance(writing) > 0.3 ? '#000' : '#fff',
    font,
  };
}

/** @template T @param {(key: string | null) => T} compute */
function memoize(compute) {
  /** @type {Map<string | null, T>} */
  const cache = new Map();
  return (/** @type {string | null} */ key) => {
    let value = cache.get(key);
    if (value === undefined) cache.set(key, value = compute(key));
    return value;
  };
}

/** @param {string} text @returns {Rgb} A color of medium lightness. The same text always gets the same color. */
function hueOf(text) {
  let hash = 7;
  for (let index = 0; index < text.length; index++) hash = (hash * 31 + text.charCodeAt(index)) >>> 0;
  const hue = (hash * 0.61803) % 1;
  const channel = (/** @type {number} */ shift) =>
    Math.round(128 + 110 * Math.cos(2 * Math.PI * (hue - shift / 3)));
  return [channel(0), channel(1), channel(2)];
}

/** @param {Rgb} from @param {Rgb} to @param {number} share @returns {Rgb} */
function mix(from, to, share) {
  const channel = (/** @type {0 | 1 | 2} */ index) => Math.round(from[index] + (to[index] - from[index]) * share);
  return [channel(0), channel(1), channel(2)];
}

/** @param {Rgb} rgb */
function css([red, green, blue]) {
  return `rgb(${red}, ${green}, ${blue})`;
}

/** @param {Rgb} rgb @returns {number} The relative luminance as WCAG defines it. */
function luminance(rgb) {
  const [red, green, blue] = rgb.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
