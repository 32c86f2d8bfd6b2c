// A read of a resource that a server may lack, or that a caller may not see: intents, teams.

import { ApiError } from './api.js';
import { coalesceCalls, makeTimer } from './scheduling.js';

/** Delay before a read is repeated that the server did not answer, although events arrive. */
const UNANSWERED_MS = 5000;

/**
 * The parts that the watchers of a branch share.
 * @typedef {object} WatchContext
 * @property {string} repoUrl
 * @property {string} branch
 * @property {import('./api.js').Api} api
 * @property {import('./clock.js').Clock} clock
 * @property {import('./watch.js').Timers} timers
 * @property {() => import('./types.js').State} state
 * @property {(action: import('./reduce.js').Action) => void} dispatch
 */

/**
 * @param {WatchContext} context
 * @param {object} callbacks
 * @param {() => Promise<void>} callbacks.load Reads, and dispatches what it read.
 * @param {(phase: 'none' | 'sign_in' | 'unavailable', message: string) => void} callbacks.onFailure Gets the reason:
 *   there is none, the caller may not see it, or it cannot be read now.
 */
export function makeOptionalRead({ clock, timers, state }, { load, onFailure }) {
  let isStopped = false;
  /** Whether another read would get the same answer as the last one. */
  let isFinal = false;
  let isRead = false;
  const soon = makeTimer(() => read(), timers);
  const later = makeTimer(() => read(), timers);
  const again = makeTimer(() => read(), timers);
  const clear = () => [soon, later, again].forEach((timer) => timer.clear());

  const readOnce = coalesceCalls(async () => {
    clear();
    try {
      await load();
      isRead = true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!isStopped) handleFailure(error);
    }
  });

  async function read() {
    if (!isStopped && !isFinal) await readOnce();
  }

  /** @param {ApiError} error */
  function handleFailure({ problem: { kind, retryAt }, message, isUnanswered }) {
    // A server without the routes has none, nor has a repository that the server does not know. Another read reports an
    // unknown repository.
    isFinal = !isUnanswered && ['no_repository', 'no_branch', 'sign_in', 'forbidden'].includes(kind);
    onFailure(kind === 'sign_in' || kind === 'forbidden' ? 'sign_in' : isFinal ? 'none' : 'unavailable', message);
    if (isFinal) return;
    if (isUnanswered && state().connection.phase === 'live') again.set(UNANSWERED_MS);
    else if (retryAt !== null) again.set(Math.max(1000, retryAt - clock.now()));
  }

  return {
    read,
    /** Reads unless a read has succeeded before. */
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
