// Time that passes when a test says so.

/** @returns {import('../../../public/app/watch.js').Timers & { now: () => number, pass: (ms: number) => Promise<void>, waiting: () => number }} */
export function makeTimers(start = 0) {
  let time = start;
  let last = 0;
  /** @type {Map<number, { at: number, act: () => void, every: number | null }>} */
  const timers = new Map();
  const set = (/** @type {() => void} */ act, /** @type {number} */ ms, /** @type {number | null} */ every) => {
    timers.set(++last, { at: time + ms, act, every });
    return last;
  };
  /** Lets promises that are settled go on. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    setTimeout: (act, ms) => set(act, ms, null),
    clearTimeout: (timer) => void timers.delete(timer),
    setInterval: (act, ms) => set(act, ms, ms),
    clearInterval: (timer) => void timers.delete(timer),
    now: () => time,
    waiting: () => timers.size,
    async pass(ms) {
      const end = time + ms;
      await settle();
      for (;;) {
        const due = [...timers].filter(([, { at }]) => at <= end).sort(([, one], [, other]) => one.at - other.at)[0];
        if (!due) break;
        const [id, timer] = due;
        time = Math.max(time, timer.at);
        if (timer.every === null) timers.delete(id);
        else timer.at += timer.every;
        timer.act();
        await settle();
      }
      time = end;
      await settle();
    },
  };
}
