// What each agent held, waited for and pushed over the last hours, and the figures of that time, from the activity. No elements.

/** @typedef {import('./types.js').Activity} Activity */
/** @typedef {import('./types.js').State} State */
/** @typedef {{ from: number, to: number }} Span Milliseconds since 1970. */

/**
 * @typedef {object} Lane
 * @property {string} holder
 * @property {Span[]} held While it held a lock at all, in order.
 * @property {Span[]} waited
 * @property {number[]} refused
 * @property {number[]} pushed When a release proved a push; older versions of the server do not say so.
 */

/**
 * @typedef {object} Figures
 * @property {number} waited Milliseconds, of all agents together.
 * @property {number} refusals
 * @property {number} avoided Claims that were refused, and whose file the holder then pushed.
 * @property {number} pushes
 */

/** A place in the queue lasts so long after its claim was last made; the same refusal is told once a minute. */
const [PLACE_MS, TOLD_MS] = [30_000, 90_000];
/** Refusals of releases: nobody was kept from a file. */
const OF_RELEASES = new Set(['NOT_PUSHED', 'LOST']);

/**
 * @param {Pick<State, 'activity' | 'locks' | 'waits'>} state
 * @param {number} from
 * @param {number} now
 * @returns {{ lanes: Lane[], figures: Figures }}
 */
export function lanesOf({ activity, locks, waits }, from, now) {
  /** @type {Map<string, Lane>} */
  const lanes = new Map();
  const laneOf = (/** @type {string} */ holder) => {
    let lane = lanes.get(holder);
    if (!lane) lanes.set(holder, (lane = { holder, held: [], waited: [], refused: [], pushed: [] }));
    return lane;
  };
  const events = activity.filter(({ isOfTeam }) => !isOfTeam).toReversed();
  const heads = events.filter(({ kind, isFirst }) => kind === 'head_moved' && !isFirst).map(({ at }) => at);
  /** Since when a holder has a file, by both. @type {Map<string, { holder: string, path: string, since: number, last: number }>} */
  const open = new Map();
  /** @type {Map<string, { since: number, last: number }>} */
  const waiting = new Map();
  /** Who was refused a file that a holder had. @type {Map<string, Set<string>>} */
  const keptFrom = new Map();
  /** @type {Set<string>} */
  const avoided = new Set();
  let refusals = 0;

  /** @param {string} key @param {number} to */
  const release = (key, to) => {
    const known = open.get(key);
    if (!known) return;
    open.delete(key);
    laneOf(known.holder).held.push({ from: known.since, to });
  };
  /** @param {string} holder @param {number} at */
  const endWait = (holder, at) => {
    const wait = waiting.get(holder);
    if (!wait) return;
    waiting.delete(holder);
    laneOf(holder).waited.push({ from: wait.since, to: Math.min(at, wait.last + TOLD_MS) });
  };

  for (const event of events) {
    const { kind, holder, at, paths } = event;
    if (holder === null) continue;
    if (kind === 'lock_granted' || kind === 'lock_renewed') {
      if (kind === 'lock_granted') endWait(holder, at);
      for (const path of paths) {
        const key = `${holder}\n${path}`;
        open.set(key, { holder, path, since: open.get(key)?.since ?? (kind === 'lock_granted' ? at : from), last: at });
      }
    } else if (kind === 'lock_released' || kind === 'lock_expired') {
      if (event.isPushed) laneOf(holder).pushed.push(at);
      if (kind === 'lock_released' && !event.isForced) endWait(holder, at);
      for (const path of paths) {
        const key = `${holder}\n${path}`;
        if (event.isPushed) for (const other of keptFrom.get(key) ?? []) avoided.add(`${other}\n${path}`);
        keptFrom.delete(key);
        release(key, at);
      }
    } else if (kind === 'lock_refused') {
      if (!OF_RELEASES.has(event.reason ?? '') && at >= from) refusals += 1;
      laneOf(holder).refused.push(at);
      if (event.reason !== 'CONFLICT') continue;
      const wait = waiting.get(holder);
      if (wait && at - wait.last > TOLD_MS) endWait(holder, wait.last + PLACE_MS);
      waiting.set(holder, { since: waiting.get(holder)?.since ?? at, last: at });
      for (const path of event.conflicts) {
        for (const each of open.values()) {
          if (each.path !== path || each.holder === holder) continue;
          const key = `${each.holder}\n${path}`;
          keptFrom.set(key, (keptFrom.get(key) ?? new Set()).add(holder));
        }
      }
    }
  }
  for (const held of locks.values()) {
    for (const { holder, path, since } of held) {
      const key = `${holder}\n${path}`;
      open.set(key, { holder, path, since: Math.min(since, open.get(key)?.since ?? since), last: now });
    }
  }
  for (const [key, { last }] of [...open]) release(key, last);
  for (const { holder, since } of waits) waiting.set(holder, { since, last: now });
  for (const [holder, { last }] of [...waiting]) endWait(holder, Math.min(now, last + PLACE_MS));

  const shown = [...lanes.values()].map((lane) => ({
    ...lane, held: merged(lane.held, from, now), waited: merged(lane.waited, from, now), refused: lane.refused.filter((at) => at >= from), pushed: lane.pushed.filter((at) => at >= from),
  })).filter(({ held, waited, refused }) => held.length + waited.length + refused.length > 0);
  const figures = {
    waited: shown.reduce((sum, { waited }) => sum + lengthOf(waited), 0),
    refusals,
    avoided: avoided.size,
    pushes: heads.filter((at) => at >= from).length,
  };
  return { lanes: shown.sort((one, other) => (one.holder < other.holder ? -1 : 1)), figures };
}

/** @param {Span[]} spans @returns {number} */
export function lengthOf(spans) {
  return spans.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** @param {Span[]} spans @param {number} first @param {number} last @returns {Span[]} In order, without overlaps, within these bounds. */
function merged(spans, first, last) {
  /** @type {Span[]} */
  const result = [];
  const within = spans.map(({ from, to }) => ({ from: Math.max(from, first), to: Math.min(to, last) })).filter(({ from, to }) => to >= from && to >= first);
  for (const span of within.sort((one, other) => one.from - other.from)) {
    const before = result.at(-1);
    if (before && span.from <= before.to) before.to = Math.max(before.to, span.to);
    else result.push({ ...span });
  }
  return result;
}
