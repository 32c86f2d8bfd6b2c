/**
 * Wraps a read so that at most one runs at a time. If it is called during a run, it runs once more afterwards.
 * @param {() => Promise<void>} read
 * @returns {() => Promise<void>}
 */
export function coalesceCalls(read) {
  /** @type {Promise<void> | null} */
  let current = null;
  let isWantedAgain = false;
  const run = () => {
    if (current) {
      isWantedAgain = true;
      return current;
    }
    current = read().finally(() => {
      current = null;
      if (!isWantedAgain) return;
      isWantedAgain = false;
      run();
    });
    return current;
  };
  return run;
}

/**
 * Makes a timer. Setting it has no effect while it is set.
 * @param {() => void} callback
 * @param {{ setTimeout: (callback: () => void, ms: number) => any, clearTimeout: (timer: any) => void }} timers
 */
export function makeTimer(callback, { setTimeout, clearTimeout }) {
  /** @type {any} */
  let timer = null;
  return {
    /** @param {number} ms */
    set(ms) {
      timer ??= setTimeout(() => {
        timer = null;
        callback();
      }, ms);
    },
    clear() {
      clearTimeout(timer);
      timer = null;
    },
  };
}
