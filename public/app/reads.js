/**
 * A read that is never under way twice: one that is wanted meanwhile follows when it is done.
 * @param {() => Promise<void>} read
 * @returns {() => Promise<void>}
 */
export function oneAtATime(read) {
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
 * One timer: to set it while it is set changes nothing.
 * @param {() => void} act
 * @param {{ setTimeout: (act: () => void, ms: number) => any, clearTimeout: (timer: any) => void }} timers
 */
export function makeTimer(act, { setTimeout, clearTimeout }) {
  /** @type {any} */
  let timer = null;
  return {
    /** @param {number} ms */
    set(ms) {
      timer ??= setTimeout(() => {
        timer = null;
        act();
      }, ms);
    },
    clear() {
      clearTimeout(timer);
      timer = null;
    },
  };
}
