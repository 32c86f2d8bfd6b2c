// The canvas of cells and names. While the camera pans, it is shifted, and only what comes into view is drawn.

import { paintCells } from './paint_cells.js';
import { paintLabels } from './paint_labels.js';
import { wholeView } from './scene.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Region} Region */

export class BaseLayer {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    const context = canvas.getContext('2d', { alpha: false });
    if (!context) throw new Error('This browser has no 2D canvas');
    this.context = context;
    /** @type {Scene | null} What the canvas shows. */
    this.shown = null;
    this.isShifted = false;
  }

  /** @param {Scene} scene @param {boolean} isMoving Whether the camera moves. */
  draw(scene, isMoving) {
    const { shown } = this;
    this.shown = scene;
    // After a pan, all is drawn once: names go to where they are in view.
    if (!shown || !isSameButForPan(shown, scene) || (this.isShifted && !isMoving)) {
      this.#paintAll(scene);
      return;
    }
    const dx = scene.ox - shown.ox;
    const dy = scene.oy - shown.oy;
    if (dx === 0 && dy === 0) return;
    if (Math.abs(dx) >= scene.width || Math.abs(dy) >= scene.height) {
      this.#paintAll(scene);
      return;
    }
    this.isShifted = true;
    this.context.globalCompositeOperation = 'copy';
    this.context.drawImage(this.canvas, dx, dy);
    this.context.globalCompositeOperation = 'source-over';
    const { width, height } = scene;
    if (dx !== 0) this.#paint(scene, { left: dx > 0 ? 0 : width + dx, right: dx > 0 ? dx : width, top: 0, bottom: height });
    if (dy !== 0) this.#paint(scene, { left: 0, right: width, top: dy > 0 ? 0 : height + dy, bottom: dy > 0 ? dy : height });
  }

  /** Draws all again next time: something else than the camera changed. */
  forget() {
    this.shown = null;
  }

  /** @param {Scene} scene */
  #paintAll(scene) {
    this.isShifted = false;
    this.#paint(scene, wholeView(scene));
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
  return before.scale === after.scale && before.width === after.width && before.height === after.height && before.dpr === after.dpr;
}
