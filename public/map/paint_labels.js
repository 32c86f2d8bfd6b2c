import { HEADER } from './frame.js';
import { linesOf, SIZES, sizeOf } from './label_text.js';
import { walk } from './scene.js';

const FOLDER_PX = 11;
const LINE = 1.2;
const DETAIL_PX = 10;
const LEAST_WIDTH = 30;
const NARROW = 70;
const LEAST_HEIGHT = 15;

/**
 * Writes the names of folders and files where there is room in the part of them that is in view.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {import('./scene.js').Region} region
 */
export function paintLabels(context, scene, region) {
  const { layout: { tree }, placement, palette, widths, boldWidths, matches, dpr } = scene;
  context.textBaseline = 'alphabetic';
  let font = '';
  let fill = '';
  /** @param {string} text @param {number} x @param {number} y @param {string} nextFont @param {string} color */
  const write = (text, x, y, nextFont, color) => {
    if (nextFont !== font) context.font = font = nextFont;
    if (color !== fill) context.fillStyle = fill = color;
    context.fillText(text, x, y);
  };
  const fonts = {
    top: `600 ${FOLDER_PX * dpr}px ${palette.font}`,
    folder: `${FOLDER_PX * dpr}px ${palette.font}`,
    files: new Map(SIZES.map((size) => [size, `${size * dpr}px ${palette.font}`])),
    detail: `${DETAIL_PX * dpr}px ${palette.font}`,
  };
  walk(scene, region, (node, boxLeft, boxTop, boxWidth, boxHeight, isTile) => {
    // Names stay in view when the start of their box is not.
    const left = Math.max(boxLeft, 0);
    const width = boxLeft + boxWidth - left;
    const isDimmed = matches !== null && matches[node] === 0;
    const top = tree.file[node] < 0 ? boxTop : Math.max(boxTop, 0);
    const height = boxTop + boxHeight - top;
    if (tree.file[node] < 0) {
      const isNamed = isTile ? width >= LEAST_WIDTH * dpr && height >= LEAST_HEIGHT * dpr : placement.header[node] > HEADER - 5;
      if (node === 0 || !isNamed) return;
      const isTop = tree.depth[node] === 1;
      const text = (isTop ? boldWidths : widths).fit(tree.name[node], (width / dpr - 10) * (10 / FOLDER_PX));
      const ink = isTop ? palette.folderInk : palette.color.soft;
      if (text) write(text, left + 5 * dpr, top + 12.5 * dpr, isTop ? fonts.top : fonts.folder, isDimmed ? palette.dimmedInk : ink);
      return;
    }
    if (width < LEAST_WIDTH * dpr || height < LEAST_HEIGHT * dpr) return;
    const inset = width < NARROW * dpr ? 3 : 5;
    const room = width / dpr - inset - 3;
    const name = tree.name[node];
    const size = sizeOf(widths.of(name), room, height / dpr, scene.width / dpr);
    const { lines } = linesOf(widths, name, room * (10 / size), height >= (LEAST_HEIGHT + size * LINE) * dpr ? 2 : 1);
    if (lines.length === 0) return;
    const first = top + (height < 18 * dpr ? 11 : size + 3) * dpr;
    const ink = isDimmed ? palette.dimmedInk : palette.cellInk;
    lines.forEach((line, index) => write(line, left + inset * dpr, first + index * size * LINE * dpr, /** @type {string} */ (fonts.files.get(size)), ink));
    const base = first + (lines.length - 1) * size * LINE * dpr;
    const below = (10 + size * 0.3) * dpr;
    if (base + below + 4 * dpr > top + height || width < 52 * dpr || isDimmed) return;
    const detail = scene.detailOf(tree.file[node]);
    if (widths.of(detail) * (DETAIL_PX / 10) <= room) write(detail, left + inset * dpr, base + below, fonts.detail, palette.cellSoft);
  });
}
