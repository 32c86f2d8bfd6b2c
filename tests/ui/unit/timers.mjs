// Timers whose time advances only when a test says so.

/** @returns {import('../../../public/app/watch.js').Timers & { now: () => number, advance: (ms: number) => Promise<void>, waiting: () => number }} */
export function makeTimers(start = 0) {
  let time = start;
  let last = 0;
  /** @type {Map<number, { at: number, callback: () => void, every: number | null }>} */
  const timers = new Map();
  const set = (/** @type {() => void} */ callback, /** @type {number} */ ms, /** @type {number | null} */ every) => {
    timers.set(++last, { at: time + ms, callback, every });
    return last;
  };
  /** Lets the callbacks of settled promises run. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    setTimeout: (callback, ms) => set(callback, ms, null),
    clearTimeout: (timer) => void timers.delete(timer),
    setInterval: (callback, ms) => set(callback, ms, ms),
    clearInterval: (timer) => void timers.delete(timer),
    now: () => time,
    waiting: () => timers.size,
    async advance(ms) {
      const end = time + ms;
      await settle();
      for (;;) {
        const due = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
        if (!due) break;
        const [id, timer] = due;
        time = Math.max(time, timer.at);
        if (timer.every === null) timers.delete(id);
        else timer.at += timer.every;
        timer.callback();
        await settle();
      }
      time = end;
      await settle();
    },
  };
}
