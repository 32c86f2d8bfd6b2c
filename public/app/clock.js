// The clock of the server, so that a countdown is right even on a machine whose own clock is wrong.

/** Samples to remember: few enough to follow a clock that is set to another time. */
const SAMPLES = 8;
/** A `Date` header has whole seconds: on average, it is half a second behind. */
const HEADER_MS = 500;

/**
 * @typedef {object} Clock
 * @property {() => number} now Milliseconds since 1970.
 * @property {(serverMs: number) => void} addSample Takes a time that the server sent just now.
 * @property {(header: string | null) => void} setFromHeader Takes a `Date` header, which is used only until the first
 *   call of `addSample`.
 */

/**
 * @param {() => number} [local] The clock of this machine.
 * @returns {Clock}
 */
export function makeClock(local = Date.now) {
  /** @type {number[]} */
  let offsets = [];
  let offset = 0;
  return {
    now: () => local() + offset,
    addSample(serverMs) {
      if (!Number.isFinite(serverMs)) return;
      // The sample with the largest offset spent the least time in transit.
      offsets = [...offsets.slice(1 - SAMPLES), serverMs - local()];
      offset = Math.max(...offsets);
    },
    setFromHeader(header) {
      const time = header === null ? NaN : Date.parse(header);
      if (offsets.length === 0 && Number.isFinite(time)) offset = time + HEADER_MS - local();
    },
  };
}
