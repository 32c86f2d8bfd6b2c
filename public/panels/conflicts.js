// The waits between agents, and the lanes of the lines between their rows.

/** @typedef {import('../app/types.js').Agent} Agent */

/**
 * @typedef {object} Wait
 * @property {string} waiter
 * @property {string} holder
 * @property {string[]} paths
 */

/**
 * The waits between these agents, each once, whichever of the two agents has it.
 * @param {Agent[]} agents
 * @returns {Wait[]}
 */
export function waitsAmong(agents) {
  const holders = new Set(agents.map(({ holder }) => holder));
  /** @type {Map<string, Wait>} */
  const waits = new Map();
  for (const agent of agents) {
    for (const { holder, paths, isWaiting } of agent.conflicts) {
      if (!holders.has(holder)) continue;
      const wait = isWaiting ? { waiter: agent.holder, holder } : { waiter: holder, holder: agent.holder };
      const key = JSON.stringify([wait.waiter, wait.holder]);
      waits.set(key, { ...wait, paths: [...new Set([...(waits.get(key)?.paths ?? []), ...paths])] });
    }
  }
  return [...waits.values()];
}

/**
 * Assigns a lane to each span, so that spans in one lane do not overlap. Shorter spans get lanes nearer to the rows.
 * @param {{ top: number, bottom: number }[]} spans
 * @returns {number[]} The lane of each; 0 is nearest.
 */
export function assignLanes(spans) {
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
 * Keeps the order of existing rows, and adds new ones at the end, in the order of `agents`.
 * @param {string[]} order Holders of the existing rows.
 * @param {Agent[]} agents
 * @returns {Agent[]}
 */
export function stableOrder(order, agents) {
  const indices = new Map(order.map((holder, index) => [holder, index]));
  const indexOf = (/** @type {Agent} */ { holder }) => indices.get(holder) ?? order.length;
  return [...agents].sort((a, b) => indexOf(a) - indexOf(b));
}
