// Which agent waits for which, and where the lines between their rows run.

/** @typedef {import('../app/types.js').Agent} Agent */

/**
 * @typedef {object} Wait
 * @property {string} waiter
 * @property {string} holder
 * @property {string[]} paths
 */

/**
 * Every pair of shown agents of which one waits for the other, once, whichever of them says so.
 * @param {Agent[]} agents
 * @returns {Wait[]}
 */
export function waitsAmong(agents) {
  const shown = new Set(agents.map(({ holder }) => holder));
  /** @type {Map<string, Wait>} */
  const waits = new Map();
  for (const agent of agents) {
    for (const { holder, paths, isWaiting } of agent.conflicts) {
      if (!shown.has(holder)) continue;
      const wait = isWaiting ? { waiter: agent.holder, holder } : { waiter: holder, holder: agent.holder };
      const key = JSON.stringify([wait.waiter, wait.holder]);
      waits.set(key, { ...wait, paths: [...new Set([...(waits.get(key)?.paths ?? []), ...paths])] });
    }
  }
  return [...waits.values()];
}

/**
 * Gives each span a lane such that spans of one lane do not overlap. Shorter spans get the lanes nearer to the rows.
 * @param {{ top: number, bottom: number }[]} spans
 * @returns {number[]} The lane of each; 0 is nearest.
 */
export function lanesOf(spans) {
  const order = spans.map((_, index) => index);
  order.sort((a, b) => (spans[a].bottom - spans[a].top) - (spans[b].bottom - spans[b].top) || a - b);
  /** @type {{ top: number, bottom: number }[][]} */
  const lanes = [];
  const laneOf = spans.map(() => 0);
  for (const index of order) {
    const span = spans[index];
    let lane = 0;
    while (lanes[lane]?.some((other) => span.top <= other.bottom && other.top <= span.bottom)) lane += 1;
    (lanes[lane] ??= []).push(span);
    laneOf[index] = lane;
  }
  return laneOf;
}

/**
 * Keeps the order of the rows that are there, and puts new ones at the end, in the order in which they come.
 * @param {string[]} order Holders, as shown before.
 * @param {Agent[]} agents
 * @returns {Agent[]}
 */
export function stableOrder(order, agents) {
  const places = new Map(order.map((holder, index) => [holder, index]));
  const placeOf = (/** @type {Agent} */ { holder }) => places.get(holder) ?? order.length;
  return [...agents].sort((a, b) => placeOf(a) - placeOf(b));
}
