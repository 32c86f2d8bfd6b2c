// Moves the camera, at once or in flight, and reports when it rests.

import { flight } from './camera.js';

/** @typedef {import('./camera.js').Camera} Camera */

const FLIGHT_MS = 280;
/** The camera rests when it has not moved for this time. */
const REST_MS = 140;

export class Motion {
  /**
   * @param {() => void} onChange Called when the next frame has to show a change.
   * @param {() => void} onRest
   */
  constructor(onChange, onRest) {
    this.onChange = onChange;
    this.onRest = onRest;
    /** @type {Camera | null} */
    this.camera = null;
    this.isMoving = false;
    this.timer = 0;
    /** @type {{ start: number, scale: number, moveTo: (share: number) => void } | null} */
    this.flight = null;
    this.reducedMotion = window.matchMedia('(prefers-reduced-motion: reduce)');
  }

  get isReduced() {
    return this.reducedMotion.matches;
  }

  /** The scale that the camera has, or will have when it arrives. */
  get scale() {
    return this.flight?.scale ?? this.camera?.scale ?? 1;
  }

  /** @param {Camera | null} camera */
  setCamera(camera) {
    this.flight = null;
    this.camera = camera;
    this.#rest();
  }

  /** @param {(camera: Camera) => void} change */
  move(change) {
    if (!this.camera) return;
    this.flight = null;
    change(this.camera);
    this.#onMove();
  }

  /**
   * Brings a point of the map to the middle of the view.
   * @param {import('./placement.js').Anchor} anchor
   * @param {number} scale
   */
  fly(anchor, scale) {
    const { camera } = this;
    if (!camera) return;
    const moveTo = flight(camera, anchor, scale);
    if (this.isReduced) {
      this.move(() => moveTo(1));
      return;
    }
    const bounded = Math.min(camera.maxScale, Math.max(1, scale));
    this.flight = { start: performance.now(), scale: bounded, moveTo };
    this.#onMove();
  }

  /** Moves the camera along its flight. @param {number} now */
  step(now) {
    const { flight: current } = this;
    if (!current) return;
    const share = Math.min(1, Math.max(0, (now - current.start) / FLIGHT_MS));
    current.moveTo(share);
    if (share === 1) this.flight = null;
    this.#onMove();
  }

  #onMove() {
    this.isMoving = true;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.#rest(), REST_MS);
    this.onChange();
  }

  #rest() {
    window.clearTimeout(this.timer);
    this.isMoving = false;
    this.onRest();
    this.onChange();
  }
}
