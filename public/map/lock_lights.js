// The locks and neighbors as the map shows them now, with those that just appeared and those that just ended.

/** @typedef {import('../app/types.js').Lock} Lock */
/** @typedef {'WRITING' | 'READING' | 'NEIGHBOR' | 'INFORMED'} Mark `NEIGHBOR`: nobody else can write it. `INFORMED`: who writes it is told. */

/**
 * @typedef {object} Light
 * @property {string} path
 * @property {Mark} mark
 * @property {Lock[]} locks None for a neighbor.
 * @property {number} litAt Milliseconds; -Infinity for what was there from the start.
 * @property {number | null} endedAt
 */

const PULSE_MS = 900;
const FADE_MS = 500;
// What is drawn later lies above.
const ORDER = { INFORMED: 0, NEIGHBOR: 1, READING: 2, WRITING: 3 };

export class LockLights {
  constructor() {
    /** @type {Map<string, Light>} By path. */
    this.lights = new Map();
    this.isFirst = true;
  }

  /** Forgets all: another repository is shown. */
  clear() {
    this.lights.clear();
    this.isFirst = true;
  }

  /**
   * @param {Map<string, Lock[]>} locks
   * @param {Map<string, string[]>} neighbors
   * @param {Set<string>} blocked Those of them that nobody else can write.
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
    for (const [path, held] of locks) {
      const isWritten = held.some(({ mode }) => mode === 'WRITING');
      this.#light(path, isWritten ? 'WRITING' : 'READING', held, litAt);
    }
  }

  /**
   * What to draw, in the order to draw it.
   * @param {number} now
   */
  current(now) {
    for (const [path, { endedAt }] of this.lights) {
      if (endedAt !== null && now - endedAt >= FADE_MS) this.lights.delete(path);
    }
    return [...this.lights.values()].sort((a, b) => ORDER[a.mark] - ORDER[b.mark]);
  }

  /** Whether something still changes with time. @param {number} now */
  isMoving(now) {
    for (const { litAt, endedAt } of this.lights.values()) {
      if (endedAt !== null || now - litAt < PULSE_MS) return true;
    }
    return false;
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

/** How strong the pulse still is: 1 when the lock has just appeared, 0 after it. @param {Light} light @param {number} now */
export function pulseOf({ litAt, mark }, now) {
  return mark === 'NEIGHBOR' || mark === 'INFORMED' ? 0 : Math.max(0, 1 - (now - litAt) / PULSE_MS);
}

/** 1 while it lasts, down to 0 after its end. @param {Light} light @param {number} now */
export function strengthOf({ endedAt }, now) {
  return endedAt === null ? 1 : Math.max(0, 1 - (now - endedAt) / FADE_MS);
}
