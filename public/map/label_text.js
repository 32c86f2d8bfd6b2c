// Fits text into cells. Widths come from a table of characters: measuring each name would take longer than drawing.

import { canvasContext } from '../app/dom.js';

const ELLIPSIS = '…';
const FIRST = 32;
const LAST = 126;
// A shorter piece of a name is useless.
const MIN_CHARACTERS = 8;

/** Sizes of file names. A name gets the largest size in which it fits. */
export const SIZES = [28, 22, 18, 16, 14, 12, 11, 10];
// Largest share of the height of its cell that a name takes.
const MAX_HEIGHT_SHARE = 0.3;
// A map below this width is narrow, and limits the size of names.
const WIDE_MAP = 1600;
const MAX_SIZE_ON_NARROW_MAP = 18;

/**
 * @param {number} width Of the name at 10 pixels.
 * @param {number} room Pixels beside it.
 * @param {number} height Of its cell.
 * @param {number} mapWidth
 * @returns {number} The smallest size if none fits.
 */
export function labelSize(width, room, height, mapWidth) {
  const maxOfMap = mapWidth < WIDE_MAP ? MAX_SIZE_ON_NARROW_MAP : SIZES[0];
  const max = Math.min((room * 10) / width, height * MAX_HEIGHT_SHARE, maxOfMap);
  return SIZES.find((size) => size <= max) ?? SIZES[SIZES.length - 1];
}

export class TextWidths {
  /** @param {(text: string) => number} measure Width of a text in the font of these labels, in pixels. */
  constructor(measure) {
    this.table = new Float64Array(LAST + 1);
    for (let code = FIRST; code <= LAST; code++) this.table[code] = measure(String.fromCharCode(code));
    this.ellipsis = measure(ELLIPSIS);
    this.wide = measure('\u4e00');
    this.other = measure('\u00e9');
  }

  /** @param {number} code Of a UTF-16 unit. */
  unit(code) {
    if (code <= LAST) return this.table[code];
    // Halves of a surrogate pair share one wide character.
    if (code >= 0xd800 && code <= 0xdfff) return this.wide / 2;
    return code >= 0x1100 ? this.wide : this.other;
  }

  /** @param {string} text */
  of(text) {
    let width = 0;
    for (let index = 0; index < text.length; index++) width += this.unit(text.charCodeAt(index));
    return width;
  }

  /**
   * Truncates a text in the middle if it is too long: the start and the end of a file name say the most.
   * @param {string} text
   * @param {number} room Pixels.
   * @returns {string} Empty if not even a few characters fit.
   */
  fit(text, room) {
    if (this.of(text) <= room) return text;
    let roomLeft = room - this.ellipsis;
    let [head, tail] = [0, text.length];
    while (head < tail) {
      // Takes a little more of the start than of the end.
      const isHead = head <= (text.length - tail) * 1.3;
      const width = this.unit(text.charCodeAt(isHead ? head : tail - 1));
      if (width > roomLeft) break;
      roomLeft -= width;
      if (isHead) head += 1;
      else tail -= 1;
    }
    if (head + text.length - tail < MIN_CHARACTERS) return '';
    // Removes dots beside the ellipsis: `na….rs` would look like a longer ellipsis.
    while (text[head - 1] === '.') head -= 1;
    while (text[tail] === '.') tail += 1;
    if (isLowSurrogate(text, head)) head -= 1;
    if (isLowSurrogate(text, tail)) tail += 1;
    return text.slice(0, head) + ELLIPSIS + text.slice(tail);
  }
}

/**
 * Breaks a name between its words into two lines. If that does not suffice, truncates it.
 * @param {TextWidths} widths
 * @param {string} name
 * @param {number} room Pixels of a line.
 * @param {number} maxLines
 * @returns {{ lines: string[], isWhole: boolean }}
 */
export function breakLines(widths, name, room, maxLines) {
  if (widths.of(name) <= room) return { lines: [name], isWhole: true };
  for (let index = maxLines > 1 ? name.length - 1 : 0; index > 0; index--) {
    const isWordStart = /[-_. ]/.test(name[index - 1]) || name[index] === '.'
      || /[a-z0-9][A-Z]/.test(name.slice(index - 1, index + 1));
    if (!isWordStart) continue;
    const firstLine = name.slice(0, index);
    if (widths.of(firstLine) > room) continue;
    const secondLine = name.slice(index);
    if (widths.of(secondLine) <= room) return { lines: [firstLine, secondLine], isWhole: true };
    break;
  }
  const text = widths.fit(name, room);
  return { lines: text ? [text] : [], isWhole: false };
}

/** @param {string} text @param {number} index */
function isLowSurrogate(text, index) {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}

/** @param {string} font As CSS. */
export function measureFont(font) {
  const context = canvasContext(document.createElement('canvas'));
  context.font = font;
  return new TextWidths((text) => context.measureText(text).width);
}
