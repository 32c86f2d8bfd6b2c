// The canvas of cells and names. While the camera pans, the layer shifts it, and draws only the part that comes into
// view.

import { canvasContext } from '../app/dom.js';
import { paintCells } from './paint_cells.js';
import { paintLabels } from './paint_labels.js';
import { viewRegion } from './scene.js';

/** @import { Region, Scene } from './scene.js' */

export class BaseLayer {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvasContext(canvas, { alpha: false });
    /** @type {Scene | null} The scene on the canvas. */
    this.lastScene = null;
    this.isShifted = false;
  }

  /** @param {Scene} scene @param {boolean} isMoving Whether the camera moves. */
  draw(scene, isMoving) {
    const { lastScene } = this;
    this.lastScene = scene;
    // After a pan, the layer draws everything once, so that names move into view.
    if (!lastScene || !isSameButForPan(lastScene, scene) || (this.isShifted && !isMoving)) {
      this.#paintAll(scene);
      return;
    }
    const dx = scene.ox - lastScene.ox;
    const dy = scene.oy - lastScene.oy;
    if (dx === 0 && dy === 0) return;
    const { width, height } = scene;
    if (Math.abs(dx) >= width || Math.abs(dy) >= height) {
      this.#paintAll(scene);
      return;
    }
    this.isShifted = true;
    this.context.globalCompositeOperation = 'copy';
    this.context.drawImage(this.canvas, dx, dy);
    this.context.globalCompositeOperation = 'source-over';
    const [left, right] = dx > 0 ? [0, dx] : [width + dx, width];
    const [top, bottom] = dy > 0 ? [0, dy] : [height + dy, height];
    if (dx !== 0) this.#paint(scene, { left, right, top: 0, bottom: height });
    if (dy !== 0) this.#paint(scene, { left: 0, right: width, top, bottom });
  }

  /** Redraws everything next time, because more than the camera has changed. */
  invalidate() {
    this.lastScene = null;
  }

  /** @param {Scene} scene */
  #paintAll(scene) {
    this.isShifted = false;
    this.#paint(scene, viewRegion(scene));
  }

  /** @param {Scene} scene @param {Region} region */
  #paint(scene, region) {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(region.left, region.top, region.right - region.left, region.bottom - region.top);
    context.clip();
    paintCells(context, scene, region);
    paintLabels(context, scene, region);
    context.restore();
  }
}

/** @param {Scene} before @param {Scene} after */
function isSameButForPan(before, after) {
  const isSameSize = before.width === after.width && before.height === after.height;
  return isSameSize && before.scale === after.scale && before.dpr === after.dpr;
}
