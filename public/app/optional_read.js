// A read of what a server may not have, and a caller may not see: intents, teams.

import { ApiError } from './api.js';
import { makeTimer, oneAtATime } from './reads.js';

/** Before a read is repeated that was not answered, although events arrive. */
const UNANSWERED_MS = 5000;

/**
 * What a part of the page needs to read and to tell.
 * @typedef {object} Part
 * @property {string} repoUrl
 * @property {string} branch
 * @property {import('./api.js').Api} api
 * @property {import('./clock.js').Clock} clock
 * @property {import('./watch.js').Timers} timers
 * @property {() => import('./types.js').State} state
 * @property {(action: import('./reduce.js').Action) => void} dispatch
 */

/**
 * @param {Part} part
 * @param {object} acts
 * @param {() => Promise<void>} acts.ask Reads, and tells what it read.
 * @param {(phase: 'none' | 'sign_in' | 'late', message: string) => void} acts.fail Tells why there is nothing to tell: there is none, it may
 *   not be seen, or it cannot be read now.
 */
export function makeOptionalRead({ clock, timers, state }, { ask, fail }) {
  let isStopped = false;
  /** Whether another read would be answered as the last one was. */
  let isFinal = false;
  let isRead = false;
  const soon = makeTimer(() => read(), timers);
  const later = makeTimer(() => read(), timers);
  const again = makeTimer(() => read(), timers);
  const clear = () => [soon, later, again].forEach((timer) => timer.clear());

  const once = oneAtATime(async () => {
    clear();
    try {
      await ask();
      isRead = true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!isStopped) failed(error);
    }
  });

  async function read() {
    if (!isStopped && !isFinal) await once();
  }

  /** @param {ApiError} error */
  function failed({ problem: { kind, retryAt }, message, isUnanswered }) {
    // A server without the routes, and a repository that it does not know, have none. That it is not known is said elsewhere.
    isFinal = !isUnanswered && ['no_repository', 'no_branch', 'sign_in', 'forbidden'].includes(kind);
    fail(kind === 'sign_in' || kind === 'forbidden' ? 'sign_in' : isFinal ? 'none' : 'late', message);
    if (isFinal) return;
    if (isUnanswered && state().connection.phase === 'live') again.set(UNANSWERED_MS);
    else if (retryAt !== null) again.set(Math.max(1000, retryAt - clock.now()));
  }

  return {
    read,
    /** What is read once the server answers at all. */
    async readFirst() {
      if (!isRead) await read();
    },
    /** @param {number} ms */
    readSoon: (ms) => soon.set(ms),
    /** @param {number} ms */
    readLater: (ms) => later.set(ms),
    isOver: () => isStopped || isFinal,
    isStopped: () => isStopped,
    stop() {
      isStopped = true;
      clear();
    },
  };
}
