import { HEADER } from './frame.js';
import { breakLines, labelSize, SIZES } from './label_text.js';
import { visitNodes } from './scene.js';

const FOLDER_PX = 11;
const LINE_HEIGHT = 1.2;
const DETAIL_PX = 10;
const MIN_WIDTH = 30;
const NARROW_WIDTH = 70;
const MIN_HEIGHT = 15;

/**
 * Writes the names of folders and files where the visible part of their box has room for them.
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
  visitNodes(scene, region, (node, boxLeft, boxTop, boxWidth, boxHeight, isTile) => {
    const isFolder = tree.file[node] < 0;
    // A name stays in view when the start of its box is not.
    const left = Math.max(boxLeft, 0);
    const width = boxLeft + boxWidth - left;
    const isDimmed = matches !== null && matches[node] === 0;
    const top = isFolder ? boxTop : Math.max(boxTop, 0);
    const height = boxTop + boxHeight - top;
    const isLargeEnough = width >= MIN_WIDTH * dpr && height >= MIN_HEIGHT * dpr;
    if (isFolder) {
      const hasName = isTile ? isLargeEnough : placement.header[node] > HEADER - 5;
      if (node === 0 || !hasName) return;
      const isTop = tree.depth[node] === 1;
      const text = (isTop ? boldWidths : widths).fit(tree.name[node], (width / dpr - 10) * (10 / FOLDER_PX));
      if (!text) return;
      const folderInk = isTop ? palette.folderInk : palette.color.soft;
      const ink = isDimmed ? palette.dimmedInk : folderInk;
      write(text, left + 5 * dpr, top + 12.5 * dpr, isTop ? fonts.top : fonts.folder, ink);
      return;
    }
    if (!isLargeEnough) return;
    const inset = width < NARROW_WIDTH * dpr ? 3 : 5;
    const textLeft = left + inset * dpr;
    const textWidth = width / dpr - inset - 3;
    const name = tree.name[node];
    const size = labelSize(widths.of(name), textWidth, height / dpr, scene.width / dpr);
    const maxLines = height >= (MIN_HEIGHT + size * LINE_HEIGHT) * dpr ? 2 : 1;
    const { lines } = breakLines(widths, name, textWidth * (10 / size), maxLines);
    if (lines.length === 0) return;
    const firstBaseline = top + (height < 18 * dpr ? 11 : size + 3) * dpr;
    const ink = isDimmed ? palette.dimmedInk : palette.cellInk;
    const fileFont = /** @type {string} */ (fonts.files.get(size));
    lines.forEach((line, index) => {
      write(line, textLeft, firstBaseline + index * size * LINE_HEIGHT * dpr, fileFont, ink);
    });
    const lastBaseline = firstBaseline + (lines.length - 1) * size * LINE_HEIGHT * dpr;
    const detailBaseline = lastBaseline + (10 + size * 0.3) * dpr;
    if (detailBaseline + 4 * dpr > top + height || width < 52 * dpr || isDimmed) return;
    const detail = scene.detailOf(tree.file[node]);
    if (widths.of(detail) * (DETAIL_PX / 10) > textWidth) return;
    write(detail, textLeft, detailBaseline, fonts.detail, palette.cellSoft);
  });
}
