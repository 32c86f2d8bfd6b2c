// The part of the map in view, and its scale. At scale 1, the whole map is in view.

import { anchorAt, computePlacement, emptyPlacement, pointOf } from './placement.js';

/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('./placement.js').Anchor} Anchor */

/** At the largest scale, the smallest file has about this width. */
const SMALLEST_FILE_AT_CLOSEST = 240;
const LARGEST_SCALE = 20_000;
/** Frames do not scale, so the camera finds the scale that fits a folder by trying: it settles in a few steps. */
const FIT_STEPS = 6;

export class Camera {
  /** @param {Layout} layout @param {number} width @param {number} height */
  constructor(layout, width, height) {
    this.layout = layout;
    this.width = width;
    this.height = height;
    this.scale = 1;
    /** Pixels of the map left of the view. */
    this.x = 0;
    /** Pixels of the map above the view. */
    this.y = 0;
    this.placement = emptyPlacement(layout.tree.count);
    this.#place();
    this.maxScale = this.#largestScale();
  }

  /** @param {number} width @param {number} height */
  resize(width, height) {
    const center = this.anchorAt(this.width / 2, this.height / 2);
    this.width = width;
    this.height = height;
    this.maxScale = this.#largestScale();
    this.#place();
    this.moveTo(center, width / 2, height / 2);
  }

  /**
   * Zooms around a pixel of the view, whose point of the map stays where it is.
   * @param {number} factor
   * @param {number} viewX
   * @param {number} viewY
   */
  zoomAt(factor, viewX, viewY) {
    const anchor = this.anchorAt(viewX, viewY);
    this.setScale(this.scale * factor);
    this.moveTo(anchor, viewX, viewY);
  }

  /** @param {number} dx @param {number} dy Pixels by which the map moves. */
  panBy(dx, dy) {
    this.x -= dx;
    this.y -= dy;
    this.#clamp();
  }

  /** @param {number} scale */
  setScale(scale) {
    const next = Math.min(this.maxScale, Math.max(1, scale));
    if (next === this.scale) return;
    this.scale = next;
    this.#place();
    this.#clamp();
  }

  /**
   * Moves a point of the map to a pixel of the view, or as near as the edges of the map allow.
   * @param {Anchor} anchor
   * @param {number} viewX
   * @param {number} viewY
   */
  moveTo(anchor, viewX, viewY) {
    const point = pointOf(this.placement, anchor);
    this.x = point.x - viewX;
    this.y = point.y - viewY;
    this.#clamp();
  }

  /** @param {number} viewX @param {number} viewY @returns {Anchor} */
  anchorAt(viewX, viewY) {
    return anchorAt(this.layout, this.placement, viewX + this.x, viewY + this.y);
  }

  /**
   * The scale at which a node takes a share of the view.
   * @param {number} node
   * @param {number} share
   */
  scaleFor(node, share) {
    const before = { scale: this.scale, x: this.x, y: this.y };
    for (let step = 0; step < FIT_STEPS; step++) {
      const { w, h } = this.placement;
      this.setScale(this.scale * share * Math.min(this.width / w[node], this.height / h[node]));
    }
    const { scale } = this;
    this.setScale(before.scale);
    this.x = before.x;
    this.y = before.y;
    return scale;
  }

  /**
   * The box of a node in the view, in pixels.
   * @param {number} node
   */
  boxOf(node) {
    const { x, y, w, h } = this.placement;
    return { x: x[node] - this.x, y: y[node] - this.y, w: w[node], h: h[node] };
  }

  #place() {
    computePlacement(this.layout, this.width * this.scale, this.height * this.scale, this.placement);
  }

  #clamp() {
    this.x = Math.min(Math.max(0, this.x), this.width * (this.scale - 1));
    this.y = Math.min(Math.max(0, this.y), this.height * (this.scale - 1));
  }

  #largestScale() {
    const { w, h } = this.placement;
    const { tree: { count, file } } = this.layout;
    let smallest = Infinity;
    for (let node = 0; node < count; node++) {
      if (file[node] >= 0) smallest = Math.min(smallest, Math.max(w[node], h[node]) / this.scale);
    }
    return Math.min(LARGEST_SCALE, Math.max(1, SMALLEST_FILE_AT_CLOSEST / smallest));
  }
}

/**
 * A flight of the camera to a node, so that the user sees where it goes.
 * @param {Camera} camera
 * @param {Anchor} anchor The point to bring to the middle of the view.
 * @param {number} scale
 * @returns {(share: number) => void} Moves the camera to a share of the way, 0 to 1.
 */
export function flight(camera, anchor, scale) {
  const point = pointOf(camera.placement, anchor);
  const from = { scale: camera.scale, x: point.x - camera.x, y: point.y - camera.y };
  const to = { scale: Math.min(camera.maxScale, Math.max(1, scale)), x: camera.width / 2, y: camera.height / 2 };
  return (share) => {
    const eased = 1 - (1 - share) ** 3;
    camera.setScale(from.scale * (to.scale / from.scale) ** eased);
    // A zoom moves in a straight line around one point, so its position depends on the scale.
    const isZoom = Math.abs(Math.log(to.scale / from.scale)) > 0.05;
    const progress = isZoom ? (camera.scale - from.scale) / (to.scale - from.scale) : eased;
    camera.moveTo(anchor, from.x + (to.x - from.x) * progress, from.y + (to.y - from.y) * progress);
  };
}
