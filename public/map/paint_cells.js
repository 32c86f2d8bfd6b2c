import { visitNodes } from './scene.js';

/**
 * Draws folders and cells. The lines between cells are gaps that show the folder behind them.
 * @param {CanvasRenderingContext2D} context
 * @param {import('./scene.js').Scene} scene
 * @param {import('./scene.js').Region} region
 */
export function paintCells(context, scene, region) {
  const { layout: { tree }, files, palette, matches, dpr } = scene;
  const gap = Math.max(1, Math.round(dpr * 0.75));
  let fill = '';
  visitNodes(scene, region, (node, left, top, width, height, isTile) => {
    const file = tree.file[node];
    let color;
    if (file < 0 && !isTile) {
      color = palette.folders[node === 0 ? 0 : 2 - (tree.depth[node] % 2)];
    } else {
      const language = file < 0 ? null : files[file].language;
      color = matches && matches[node] === 0 ? palette.dimmedCell(language) : palette.cell(language);
    }
    if (color !== fill) context.fillStyle = fill = color;
    const cellGap = width > 3 * gap && height > 3 * gap && node > 0 ? gap : 0;
    context.fillRect(left, top, width - cellGap, height - cellGap);
  });
}
