// Computes from the activity when each agent held files, waited and pushed, and the figures of that time. No elements.

/** @import { State } from './types.js' */
/** @typedef {{ from: number, to: number }} Span Milliseconds since 1970. */

/**
 * @typedef {object} Lane
 * @property {string} holder
 * @property {Span[]} held While it held at least one lock, in order.
 * @property {Span[]} waited
 * @property {number[]} refused
 * @property {number[]} pushed When a release proved a push. Older versions of the server do not report it.
 */

/**
 * @typedef {object} Figures
 * @property {number} waited Milliseconds, of all agents together.
 * @property {number} refusals
 * @property {number} avoided Refused claims of a file that its holder then pushed.
 * @property {number} pushes
 */

/** How long a place in the queue outlasts its last claim. */
const PLACE_MS = 30_000;
/** Longest interval between two events of one wait: the log repeats a refusal once a minute. */
const REPEAT_MS = 90_000;
/** Reasons of refused releases, which keep no agent from a file. */
const RELEASE_REASONS = new Set(['NOT_PUSHED', 'LOST']);

/**
 * @param {Pick<State, 'activity' | 'locks' | 'waits'>} state
 * @param {number} from
 * @param {number} now
 * @returns {{ lanes: Lane[], figures: Figures }}
 */
export function timelineLanes({ activity, locks, waits }, from, now) {
  /** @type {Map<string, Lane>} */
  const lanes = new Map();
  const laneFor = (/** @type {string} */ holder) => {
    let lane = lanes.get(holder);
    if (!lane) lanes.set(holder, (lane = { holder, held: [], waited: [], refused: [], pushed: [] }));
    return lane;
  };
  const events = activity.filter(({ isOfTeam }) => !isOfTeam).toReversed();
  const pushes = events.filter(({ kind, isFirst, at }) => kind === 'head_moved' && !isFirst && at >= from).length;
  /**
   * Locks that are held, by holder and path.
   * @type {Map<string, { holder: string, path: string, since: number, last: number }>}
   */
  const heldLocks = new Map();
  /** Waits that have not ended, by holder. @type {Map<string, { since: number, last: number }>} */
  const openWaits = new Map();
  /** The holders that each lock has kept from its file. @type {Map<string, Set<string>>} */
  const keptFrom = new Map();
  /** @type {Set<string>} */
  const avoided = new Set();
  let refusals = 0;

  /** @param {string} key @param {number} to */
  const endLock = (key, to) => {
    const lock = heldLocks.get(key);
    if (!lock) return;
    heldLocks.delete(key);
    laneFor(lock.holder).held.push({ from: lock.since, to });
  };
  /** @param {string} holder @param {number} at */
  const endWait = (holder, at) => {
    const wait = openWaits.get(holder);
    if (!wait) return;
    openWaits.delete(holder);
    laneFor(holder).waited.push({ from: wait.since, to: Math.min(at, wait.last + REPEAT_MS) });
  };

  for (const event of events) {
    const { kind, holder, at, paths } = event;
    if (holder === null) continue;
    if (kind === 'lock_granted' || kind === 'lock_renewed') {
      if (kind === 'lock_granted') endWait(holder, at);
      for (const path of paths) {
        const key = `${holder}\n${path}`;
        const since = heldLocks.get(key)?.since ?? (kind === 'lock_granted' ? at : from);
        heldLocks.set(key, { holder, path, since, last: at });
      }
    } else if (kind === 'lock_released' || kind === 'lock_expired') {
      if (event.isPushed) laneFor(holder).pushed.push(at);
      if (kind === 'lock_released' && !event.isForced) endWait(holder, at);
      for (const path of paths) {
        const key = `${holder}\n${path}`;
        if (event.isPushed) for (const refused of keptFrom.get(key) ?? []) avoided.add(`${refused}\n${path}`);
        keptFrom.delete(key);
        endLock(key, at);
      }
    } else if (kind === 'lock_refused') {
      if (!RELEASE_REASONS.has(event.reason ?? '') && at >= from) refusals += 1;
      laneFor(holder).refused.push(at);
      if (event.reason !== 'CONFLICT') continue;
      const wait = openWaits.get(holder);
      if (wait && at - wait.last > REPEAT_MS) endWait(holder, wait.last + PLACE_MS);
      openWaits.set(holder, { since: openWaits.get(holder)?.since ?? at, last: at });
      for (const [key, lock] of heldLocks) {
        if (lock.holder === holder || !event.conflicts.includes(lock.path)) continue;
        keptFrom.set(key, (keptFrom.get(key) ?? new Set()).add(holder));
      }
    }
  }
  for (const { holder, path, since } of [...locks.values()].flat()) {
    const key = `${holder}\n${path}`;
    heldLocks.set(key, { holder, path, since: Math.min(since, heldLocks.get(key)?.since ?? since), last: now });
  }
  for (const [key, { last }] of [...heldLocks]) endLock(key, last);
  for (const { holder, since } of waits) openWaits.set(holder, { since, last: now });
  for (const [holder, { last }] of [...openWaits]) endWait(holder, Math.min(now, last + PLACE_MS));

  const isInTime = (/** @type {number} */ at) => at >= from;
  const visibleLanes = [...lanes.values()].map((lane) => ({
    holder: lane.holder,
    held: mergeSpans(lane.held, from, now),
    waited: mergeSpans(lane.waited, from, now),
    refused: lane.refused.filter(isInTime),
    pushed: lane.pushed.filter(isInTime),
  })).filter(({ held, waited, refused }) => held.length + waited.length + refused.length > 0);
  const waited = visibleLanes.reduce((sum, lane) => sum + totalDuration(lane.waited), 0);
  return {
    lanes: visibleLanes.sort((a, b) => (a.holder < b.holder ? -1 : 1)),
    figures: { waited, refusals, avoided: avoided.size, pushes },
  };
}

/** @param {Span[]} spans @returns {number} */
export function totalDuration(spans) {
  return spans.reduce((sum, { from, to }) => sum + to - from, 0);
}

/**
 * @param {Span[]} spans
 * @param {number} first
 * @param {number} last
 * @returns {Span[]} In order, without overlaps, within these bounds.
 */
function mergeSpans(spans, first, last) {
  /** @type {Span[]} */
  const result = [];
  const bounded = spans.map(({ from, to }) => ({ from: Math.max(from, first), to: Math.min(to, last) }));
  const within = bounded.filter(({ from, to }) => to >= from && to >= first);
  for (const span of within.sort((a, b) => a.from - b.from)) {
    const previous = result.at(-1);
    if (previous && span.from <= previous.to) previous.to = Math.max(previous.to, span.to);
    else result.push({ ...span });
  }
  return result;
}
