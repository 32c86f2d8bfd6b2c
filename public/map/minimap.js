// The whole map, small, with a frame around the part in view. The user can drag the frame.

import { makeElement } from '../app/dom.js';
import { anchorAt, computePlacement, emptyPlacement, isClosed, pointOf } from './placement.js';

/** @typedef {import('./camera.js').Camera} Camera */
/** @typedef {import('./placement.js').Anchor} Anchor */

const WIDTH = 168;
const NARROW_WIDTH = 104;
const NARROW_VIEW = 600;
/** Below this scale, the map shows nearly everything anyway. */
const MIN_SCALE = 1.15;
const DOT_PX = 3;
const USUAL_FONT_PX = 16;

export class Minimap {
  /**
   * @param {HTMLElement} parent
   * @param {(anchor: Anchor) => void} onMove Gets a point to bring to the middle of the view.
   */
  constructor(parent, onMove) {
    const attributes = { class: 'map-minimap', 'aria-hidden': 'true', hidden: true };
    this.canvas = makeElement('canvas', attributes);
    parent.append(this.canvas);
    this.layout = /** @type {import('./layout.js').Layout | null} */ (null);
    this.placement = emptyPlacement(0);
    this.cells = document.createElement('canvas');
    this.cellsKey = '';
    const move = (/** @type {PointerEvent} */ event) => {
      if (!this.layout || !this.canvas.hasPointerCapture(event.pointerId)) return;
      const box = this.canvas.getBoundingClientRect();
      const clamp = (/** @type {number} */ share) => Math.min(Math.max(0, share), 0.9999);
      const { w, h } = this.placement;
      const x = clamp((event.clientX - box.left) / box.width) * w[0];
      const y = clamp((event.clientY - box.top) / box.height) * h[0];
      onMove(anchorAt(this.layout, this.placement, x, y));
    };
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      move(event);
    });
    this.canvas.addEventListener('pointermove', move);
  }

  /** Redraws the cells next time, because their colors have changed. */
  invalidate() {
    this.cellsKey = '';
  }

  /**
   * @param {Camera} camera
   * @param {import('./scene.js').Scene} scene
   * @param {{ node: number, mark: import('./lock_lights.js').Mark }[]} marks
   */
  draw(camera, scene, marks) {
    const isShown = camera.scale >= MIN_SCALE;
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
    const { x, y, w, h } = this.placement;
    const size = DOT_PX * dpr;
    for (const { node, mark } of marks) {
      if (mark === 'NEIGHBOR' || mark === 'INFORMED') continue;
      const [middleX, middleY] = [(x[node] + w[node] / 2) * dpr, (y[node] + h[node] / 2) * dpr];
      context.fillStyle = mark === 'WRITING' ? palette.color.writing : palette.color.reading;
      context.fillRect(middleX - size / 2, middleY - size / 2, size, size);
    }
    const from = pointOf(this.placement, camera.anchorAt(0, 0));
    const to = pointOf(this.placement, camera.anchorAt(camera.width - 0.01, camera.height - 0.01));
    const frameWidth = Math.max(4, to.x - from.x);
    const frameHeight = Math.max(4, to.y - from.y);
    context.lineWidth = 1.5 * dpr;
    context.strokeStyle = palette.color.accent;
    context.strokeRect(from.x * dpr, from.y * dpr, frameWidth * dpr, frameHeight * dpr);
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
    computePlacement(layout, width, height, this.placement, false);
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
