// The canvases of the map, one above the other. Each is drawn again only if it has to be.

import { canvasContext, makeElement, setAttribute } from '../app/dom.js';
import { BaseLayer } from './base_layer.js';
import { EdgeLayer } from './edge_layer.js';
import { paintFocus } from './paint_focus.js';
import { paintLocks } from './paint_locks.js';
import { paintOwned } from './paint_owned.js';

/** @typedef {import('./scene.js').Scene} Scene */

/**
 * @typedef {object} Content
 * @property {import('./paint_edges.js').EdgeGroup[]} edges
 * @property {import('./lock_lights.js').Light[]} lights
 * @property {(path: string) => number} nodeOf
 * @property {number} selected Node; -1 without one.
 * @property {number[]} connectedNodes Connected to the selected file.
 * @property {number[]} agentNodes Locked by the selected agent.
 * @property {number[]} ownedNodes Owned by the selected intent.
 * @property {number} hovered
 * @property {number} now
 * @property {boolean} isMoving Whether the camera moves.
 */

/** More device pixels for a CSS pixel take time, and nobody sees them. */
const MAX_DPR = 3;
const USUAL_FONT_PX = 16;

export class Drawing {
  /** @param {HTMLElement} stage */
  constructor(stage) {
    const [base, edges, marks] = [
      { class: 'map-base', role: 'img' },
      { class: 'map-edges', 'aria-hidden': 'true' },
      { class: 'map-marks', 'aria-hidden': 'true' },
    ].map((attributes) => makeElement('canvas', attributes));
    stage.append(base, edges, marks);
    this.canvases = [base, edges, marks];
    this.base = new BaseLayer(base);
    this.edges = new EdgeLayer(edges);
    this.marks = canvasContext(marks);
    this.dpr = 1;
    /** CSS pixels of one pixel of the map: text of the canvas grows with the font size of the page. */
    this.unit = 1;
  }

  /** @param {string} label */
  describe(label) {
    setAttribute(this.base.canvas, 'aria-label', label);
  }

  /** @param {number} width CSS pixels. @param {number} height @returns {boolean} Whether the canvases changed. */
  resize(width, height) {
    const ratio = Math.min(window.devicePixelRatio || 1, MAX_DPR);
    this.unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_FONT_PX || 1;
    this.dpr = ratio * this.unit;
    const size = { width: Math.round(width * ratio), height: Math.round(height * ratio) };
    if (this.base.canvas.width === size.width && this.base.canvas.height === size.height) return false;
    for (const canvas of this.canvases) Object.assign(canvas, size);
    this.invalidate();
    return true;
  }

  /** Redraws all layers next time. */
  invalidate() {
    this.base.invalidate();
    this.edges.invalidate();
  }

  /** @param {string} color */
  clear(color) {
    this.invalidate();
    const { width, height } = this.base.canvas;
    this.edges.context.clearRect(0, 0, width, height);
    this.marks.clearRect(0, 0, width, height);
    this.base.context.fillStyle = color;
    this.base.context.fillRect(0, 0, width, height);
  }

  /**
   * @param {import('./camera.js').Camera} camera
   * @param {Pick<Scene, 'files' | 'palette' | 'widths' | 'boldWidths' | 'matches' | 'detailOf'>} content
   * @returns {Scene}
   */
  sceneOf({ layout, placement, scale, x, y }, content) {
    const { dpr } = this;
    const { width, height } = this.base.canvas;
    const [ox, oy] = [-Math.round(x * dpr), -Math.round(y * dpr)];
    return { ...content, layout, placement, scale, dpr, ox, oy, width, height };
  }

  /** @param {Scene} scene @param {Content} content */
  draw(scene, content) {
    const { edges, lights, nodeOf, selected, connectedNodes, agentNodes, ownedNodes, hovered, now, isMoving } = content;
    this.base.draw(scene, isMoving);
    this.edges.draw(scene, edges, isMoving);
    this.marks.clearRect(0, 0, scene.width, scene.height);
    paintLocks(this.marks, scene, lights, nodeOf, now, isMoving);
    paintOwned(this.marks, scene, ownedNodes);
    paintFocus(this.marks, scene, { selected, connectedNodes, agentNodes, hovered });
  }
}
