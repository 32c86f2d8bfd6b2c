// The canvas of edges. Many edges take long to draw: while the camera moves, the layer only shifts the canvas.

import { canvasContext } from '../app/dom.js';
import { paintEdges } from './paint_edges.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./paint_edges.js').EdgeGroup} EdgeGroup */

/** Up to this number, edges are drawn in every frame, unless they are bundled: long thin lines take longer. */
const QUICK_EDGES = 250;

export class EdgeLayer {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvasContext(canvas);
    /** @type {Scene | null} The scene on the canvas. */
    this.lastScene = null;
    this.isEmpty = true;
  }

  /** @param {Scene} scene @param {EdgeGroup[]} groups @param {boolean} isMoving */
  draw(scene, groups, isMoving) {
    const { lastScene } = this;
    const count = groups.reduce((sum, { nodes }) => sum + nodes.length / 2, 0);
    if (lastScene && isMoving && (count > QUICK_EDGES || groups.some(({ isBundled }) => isBundled))) {
      if (lastScene.scale !== scene.scale) this.#clear();
      else this.#shift((scene.ox - lastScene.ox) / scene.dpr, (scene.oy - lastScene.oy) / scene.dpr);
      return;
    }
    if (lastScene && lastScene.scale === scene.scale && lastScene.ox === scene.ox && lastScene.oy === scene.oy) return;
    this.#shift(0, 0);
    this.#clear();
    if (count > 0) paintEdges(this.context, scene, groups);
    this.isEmpty = count === 0;
    // An empty canvas would still cost time in each frame.
    this.canvas.style.display = this.isEmpty ? 'none' : '';
    this.lastScene = scene;
  }

  /** Redraws the edges next time. */
  invalidate() {
    this.lastScene = null;
  }

  #clear() {
    if (!this.isEmpty) this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.isEmpty = true;
  }

  /** @param {number} x @param {number} y */
  #shift(x, y) {
    this.canvas.style.transform = x || y ? `translate(${x}px, ${y}px)` : '';
  }
}
