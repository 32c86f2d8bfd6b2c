// Text that fits: widths from a table of characters, because measuring each name would take longer than drawing all cells.

const ELLIPSIS = '…';
const FIRST = 32;
const LAST = 126;
// Fewer characters of a name say nothing.
const LEAST_CHARACTERS = 8;

/** Sizes of file names: the largest in which a name is whole. */
export const SIZES = [28, 22, 18, 16, 14, 12, 11, 10];
/** A name takes no more of the height of its cell. */
const MOST_OF_HEIGHT = 0.3;
/** On a map that is narrower, names are of this size at most. */
const [WIDE, MOST_ON_NARROW] = [1600, 18];

/**
 * @param {number} width Of the name at 10 pixels.
 * @param {number} room Pixels beside it.
 * @param {number} height Of its cell.
 * @param {number} mapWidth
 * @returns {number} The smallest size where none fits.
 */
export function sizeOf(width, room, height, mapWidth) {
  const most = Math.min((room * 10) / width, height * MOST_OF_HEIGHT, mapWidth < WIDE ? MOST_ON_NARROW : SIZES[0]);
  return SIZES.find((each) => each <= most) ?? SIZES[SIZES.length - 1];
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
   * The text, truncated in the middle if it is too long: the start and the end of a file name say the most.
   * @param {string} text
   * @param {number} room Pixels.
   * @returns {string} Empty where not even a few characters fit.
   */
  fit(text, room) {
    if (this.of(text) <= room) return text;
    let left = room - this.ellipsis;
    let [head, tail] = [0, text.length];
    while (head < tail) {
      // A little more of the start than of the end.
      const isHead = head <= (text.length - tail) * 1.3;
      const width = this.unit(text.charCodeAt(isHead ? head : tail - 1));
      if (width > left) break;
      left -= width;
      if (isHead) head += 1;
      else tail -= 1;
    }
    if (head + text.length - tail < LEAST_CHARACTERS) return '';
    // No dots beside the ellipsis: `na….rs` would look like a longer one.
    while (text[head - 1] === '.') head -= 1;
    while (text[tail] === '.') tail += 1;
    if (isLowSurrogate(text, head)) head -= 1;
    if (isLowSurrogate(text, tail)) tail += 1;
    return text.slice(0, head) + ELLIPSIS + text.slice(tail);
  }
}

/**
 * A name on one line or two: it is broken where words meet, before it is truncated.
 * @param {TextWidths} widths
 * @param {string} name
 * @param {number} room Pixels of a line.
 * @param {number} most Lines.
 * @returns {{ lines: string[], isWhole: boolean }}
 */
export function linesOf(widths, name, room, most) {
  if (widths.of(name) <= room) return { lines: [name], isWhole: true };
  for (let at = most > 1 ? name.length - 1 : 0; at > 0; at--) {
    if (!/[-_. ]/.test(name[at - 1]) && !/[a-z0-9][A-Z]/.test(name.slice(at - 1, at + 1)) && name[at] !== '.') continue;
    if (widths.of(name.slice(0, at)) > room) continue;
    const rest = name.slice(at);
    if (widths.of(rest) <= room) return { lines: [name.slice(0, at), rest], isWhole: true };
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

/**
 * @param {string} font As CSS.
 */
export function widthsOf(font) {
  const context = document.createElement('canvas').getContext('2d');
  if (!context) throw new Error('This browser has no 2D canvas');
  context.font = font;
  return new TextWidths((text) => context.measureText(text).width);
}
