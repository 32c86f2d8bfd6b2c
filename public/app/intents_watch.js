// Reads the intents when there is a reason to: they were never read, the stream is back, or an event says that they have changed.

import { ApiError } from './api.js';
import { isOfIntents, isOfWork, readIntents, unknownIntents } from './intents.js';
import { makeTimer, oneAtATime } from './reads.js';

/** Before a read that several events want. */
const DEBOUNCE_MS = 250;
/** Before what claims have spent is read: claims come often, and say the rest themselves. */
const SPENT_MS = 10_000;
/** Before a read is repeated that was not answered, although events arrive. */
const UNANSWERED_MS = 5000;

/**
 * @param {object} options
 * @param {string} options.repoUrl
 * @param {string} options.branch
 * @param {import('./api.js').Api} options.api
 * @param {import('./clock.js').Clock} options.clock
 * @param {import('./watch.js').Timers} options.timers
 * @param {() => import('./types.js').State} options.state
 * @param {(action: import('./reduce.js').Action) => void} options.dispatch
 */
export function watchIntents({ repoUrl, branch, api, clock, timers, state, dispatch }) {
  let isStopped = false;
  /** Whether another read would be answered as the last one was. */
  let isFinal = false;
  let isRead = false;
  const soon = makeTimer(() => read(), timers);
  const spent = makeTimer(() => read(), timers);
  const again = makeTimer(() => read(), timers);
  const clear = () => [soon, spent, again].forEach((timer) => timer.clear());

  /** @param {import('./types.js').Intents} intents */
  function tell(intents) {
    if (!isStopped) dispatch({ type: 'intents', intents, now: clock.now() });
  }

  const ask = oneAtATime(async () => {
    clear();
    try {
      const { body } = await api.get('api/intents', { repo_url: repoUrl, view: 'state' });
      isRead = true;
      tell(readIntents(body, branch));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      fail(error);
    }
  });

  async function read() {
    if (!isStopped && !isFinal) await ask();
  }

  /** @param {ApiError} error */
  function fail({ problem, message, isUnanswered }) {
    if (isStopped) return;
    const { kind, retryAt } = problem;
    // A server without the routes, and a repository that it does not know, have no intents. That it is not known is said elsewhere.
    isFinal = !isUnanswered && ['no_repository', 'no_branch', 'sign_in', 'forbidden'].includes(kind);
    if (kind === 'sign_in' || kind === 'forbidden') tell({ ...unknownIntents(), phase: 'sign_in', message });
    else if (isFinal) tell({ ...unknownIntents(), phase: 'none' });
    else {
      if (state().intents.phase === 'shown') tell({ ...state().intents, message });
      if (isUnanswered && state().connection.phase === 'live') again.set(UNANSWERED_MS);
      else if (retryAt !== null) again.set(Math.max(1000, retryAt - clock.now()));
    }
  }

  return {
    read,
    /** What is read once the server answers at all. */
    async readFirst() {
      if (!isRead) await read();
    },
    /** What is spent by shell commands and by tokens is told by no event: it is read when somebody comes back to the page. */
    async readShown() {
      if (state().intents.phase === 'shown') await read();
    },
    /** @param {any[]} events */
    heard(events) {
      if (isStopped || isFinal) return;
      // The first sign of work in a repository without intents is one that has some now.
      if (events.some(isOfIntents) || (state().intents.phase === 'none' && events.some(isOfWork))) soon.set(DEBOUNCE_MS);
      else if (events.some(isOfWork)) spent.set(SPENT_MS);
    },
    stop() {
      isStopped = true;
      clear();
    },
  };
}
