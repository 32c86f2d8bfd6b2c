// The whole map, small, with the part that is in view. It can be dragged.

import { isClosed } from './detail.js';
import { anchorAt, emptyPlacement, place, pointOf } from './placement.js';

/** @typedef {import('./camera.js').Camera} Camera */
/** @typedef {import('./placement.js').Anchor} Anchor */

const WIDTH = 168;
const NARROW_WIDTH = 104;
const NARROW_VIEW = 600;
// Below this scale, the map shows nearly all anyway.
const LEAST_SCALE = 1.15;
const DOT_PX = 3;
const USUAL_FONT_PX = 16;

export class Minimap {
  /**
   * @param {HTMLElement} parent
   * @param {(anchor: Anchor) => void} onMove A point to bring to the middle of the view.
   */
  constructor(parent, onMove) {
    this.canvas = document.createElement('canvas');
    this.canvas.className = 'map-minimap';
    this.canvas.setAttribute('aria-hidden', 'true');
    this.canvas.hidden = true;
    parent.append(this.canvas);
    this.layout = /** @type {import('./layout.js').Layout | null} */ (null);
    this.placement = emptyPlacement(0);
    this.cells = document.createElement('canvas');
    this.cellsKey = '';
    const move = (/** @type {PointerEvent} */ event) => {
      if (!this.layout || !this.canvas.hasPointerCapture(event.pointerId)) return;
      const box = this.canvas.getBoundingClientRect();
      const within = (/** @type {number} */ share) => Math.min(Math.max(0, share), 0.9999);
      const { w, h } = this.placement;
      const x = within((event.clientX - box.left) / box.width) * w[0];
      const y = within((event.clientY - box.top) / box.height) * h[0];
      onMove(anchorAt(this.layout, this.placement, x, y));
    };
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      move(event);
    });
    this.canvas.addEventListener('pointermove', move);
  }

  /** Draws the cells anew next time: their colors changed. */
  forget() {
    this.cellsKey = '';
  }

  /**
   * @param {Camera} camera
   * @param {import('./scene.js').Scene} scene
   * @param {{ node: number, mark: import('./lock_lights.js').Mark }[]} marks
   */
  draw(camera, scene, marks) {
    const isShown = camera.scale >= LEAST_SCALE;
    this.canvas.hidden = !isShown;
    if (!isShown) return;
    const { dpr, palette } = scene;
    const width = camera.width < NARROW_VIEW ? NARROW_WIDTH : WIDTH;
    const height = Math.round((width * camera.height) / camera.width);
    this.#drawCells(camera.layout, scene, width, height);
    const { canvas } = this;
    if (canvas.width !== this.cells.width || canvas.height !== this.cells.height) {
      canvas.width = this.cells.width;
      canvas.height = this.cells.height;
      canvas.style.width = `${width / USUAL_FONT_PX}rem`;
      canvas.style.height = `${height / USUAL_FONT_PX}rem`;
    }
    const context = canvas.getContext('2d', { alpha: false });
    if (!context) return;
    context.drawImage(this.cells, 0, 0);
    for (const { node, mark } of marks) {
      if (mark === 'NEIGHBOR' || mark === 'INFORMED') continue;
      const { x, y, w, h } = this.placement;
      const size = DOT_PX * dpr;
      context.fillStyle = mark === 'WRITING' ? palette.color.writing : palette.color.reading;
      context.fillRect((x[node] + w[node] / 2) * dpr - size / 2, (y[node] + h[node] / 2) * dpr - size / 2, size, size);
    }
    const from = pointOf(this.placement, camera.anchorAt(0, 0));
    const to = pointOf(this.placement, camera.anchorAt(camera.width - 0.01, camera.height - 0.01));
    context.lineWidth = 1.5 * dpr;
    context.strokeStyle = palette.color.accent;
    const least = 4 * dpr;
    context.strokeRect(from.x * dpr, from.y * dpr, Math.max(least, (to.x - from.x) * dpr), Math.max(least, (to.y - from.y) * dpr));
  }

  /**
   * @param {import('./layout.js').Layout} layout
   * @param {import('./scene.js').Scene} scene
   * @param {number} width
   * @param {number} height
   */
  #drawCells(layout, { dpr, palette }, width, height) {
    const key = `${width} ${height} ${dpr}`;
    if (this.layout === layout && this.cellsKey === key) return;
    const { tree } = layout;
    if (this.layout !== layout) this.placement = emptyPlacement(tree.count);
    this.layout = layout;
    this.cellsKey = key;
    place(layout, width, height, this.placement, false);
    this.cells.width = Math.round(width * dpr);
    this.cells.height = Math.round(height * dpr);
    const context = this.cells.getContext('2d', { alpha: false });
    if (!context) return;
    context.fillStyle = palette.folders[0];
    context.fillRect(0, 0, this.cells.width, this.cells.height);
    context.fillStyle = palette.color.line;
    const { x, y, w, h } = this.placement;
    for (let node = 1; node < tree.count;) {
      const isLeaf = tree.file[node] >= 0 || tree.depth[node] >= 2 || isClosed(tree, this.placement, node);
      if (isLeaf) {
        const [left, top] = [Math.round(x[node] * dpr), Math.round(y[node] * dpr)];
        const right = Math.round((x[node] + w[node]) * dpr);
        const bottom = Math.round((y[node] + h[node]) * dpr);
        context.fillRect(left, top, Math.max(1, right - left - 1), Math.max(1, bottom - top - 1));
      }
      node = isLeaf ? tree.end[node] : node + 1;
    }
  }
}
