// The locks and neighbors on the map, including locks that have just appeared or ended.

/** @typedef {import('../app/types.js').Lock} Lock */

/**
 * `NEIGHBOR`: other holders cannot write the file. `INFORMED`: other holders can write it, and are informed.
 * @typedef {'WRITING' | 'READING' | 'NEIGHBOR' | 'INFORMED'} Mark
 */

/**
 * @typedef {object} Light
 * @property {string} path
 * @property {Mark} mark
 * @property {Lock[]} locks Empty for a neighbor.
 * @property {number} litAt Milliseconds; -Infinity if it was there from the start.
 * @property {number | null} endedAt
 */

const PULSE_MS = 900;
const FADE_MS = 500;
/** In the order to draw: the last is on top. */
const ORDER = { INFORMED: 0, NEIGHBOR: 1, READING: 2, WRITING: 3 };

export class LockLights {
  constructor() {
    /** @type {Map<string, Light>} By path. */
    this.lights = new Map();
    this.isFirst = true;
  }

  /** Called when another repository is selected. */
  clear() {
    this.lights.clear();
    this.isFirst = true;
  }

  /**
   * @param {Map<string, Lock[]>} locks
   * @param {Map<string, string[]>} neighbors
   * @param {Set<string>} blocked The neighbors that other holders cannot write.
   * @param {number} now
   */
  update(locks, neighbors, blocked, now) {
    const litAt = this.isFirst ? -Infinity : now;
    this.isFirst = false;
    for (const light of this.lights.values()) {
      if (light.endedAt === null && !locks.has(light.path) && !neighbors.has(light.path)) light.endedAt = now;
    }
    for (const path of neighbors.keys()) {
      if (!locks.has(path)) this.#light(path, blocked.has(path) ? 'NEIGHBOR' : 'INFORMED', [], litAt);
    }
    for (const [path, pathLocks] of locks) {
      const isWritten = pathLocks.some(({ mode }) => mode === 'WRITING');
      this.#light(path, isWritten ? 'WRITING' : 'READING', pathLocks, litAt);
    }
  }

  /** @param {number} now @returns {Light[]} In the order to draw. */
  current(now) {
    for (const [path, { endedAt }] of this.lights) {
      if (endedAt !== null && now - endedAt >= FADE_MS) this.lights.delete(path);
    }
    return [...this.lights.values()].sort((a, b) => ORDER[a.mark] - ORDER[b.mark]);
  }

  /** @param {number} now @returns {boolean} Whether a light changes with time. */
  isMoving(now) {
    return [...this.lights.values()].some(({ litAt, endedAt }) => endedAt !== null || now - litAt < PULSE_MS);
  }

  /**
   * @param {string} path
   * @param {Mark} mark
   * @param {Lock[]} locks
   * @param {number} litAt
   */
  #light(path, mark, locks, litAt) {
    const light = this.lights.get(path);
    if (light && light.endedAt === null && light.mark === mark) light.locks = locks;
    else this.lights.set(path, { path, mark, locks, litAt, endedAt: null });
  }
}

/** @param {Light} light @param {number} now @returns {number} 1 when the lock has just appeared, 0 after its pulse. */
export function pulseOf({ litAt, mark }, now) {
  return mark === 'NEIGHBOR' || mark === 'INFORMED' ? 0 : Math.max(0, 1 - (now - litAt) / PULSE_MS);
}

/** @param {Light} light @param {number} now @returns {number} 1 while the lock lasts, falling to 0 after its end. */
export function strengthOf({ endedAt }, now) {
  return endedAt === null ? 1 : Math.max(0, 1 - (now - endedAt) / FADE_MS);
}
