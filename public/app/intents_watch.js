// Reads the intents when there is a reason to: they were never read, the stream is back, or an event says that they have changed.

import { isOfIntents, isOfWork, readIntents, unknownIntents } from './intents.js';
import { makeOptionalRead } from './optional_read.js';

/** Before a read that several events want. */
const DEBOUNCE_MS = 250;
/** Before what claims have spent is read: claims come often, and say the rest themselves. */
const SPENT_MS = 10_000;

/** @param {import('./optional_read.js').Part} part */
export function watchIntents(part) {
  const { repoUrl, branch, api, clock, state, dispatch } = part;

  /** @param {import('./types.js').Intents} intents */
  function tell(intents) {
    if (!intentsRead.isStopped()) dispatch({ type: 'intents', intents, now: clock.now() });
  }

  const intentsRead = makeOptionalRead(part, {
    async ask() {
      const { body } = await api.get('api/intents', { repo_url: repoUrl, view: 'state' });
      tell(readIntents(body, branch));
    },
    fail(phase, message) {
      if (phase !== 'late') tell({ ...unknownIntents(), phase, message: phase === 'sign_in' ? message : null });
      else if (state().intents.phase === 'shown') tell({ ...state().intents, message });
    },
  });

  return {
    read: intentsRead.read,
    readFirst: intentsRead.readFirst,
    /** What is spent by shell commands and by tokens is told by no event: it is read when somebody comes back to the page. */
    async readShown() {
      if (state().intents.phase === 'shown') await intentsRead.read();
    },
    /** @param {any[]} events */
    heard(events) {
      if (intentsRead.isOver()) return;
      // The first sign of work in a repository without intents is one that has some now.
      if (events.some(isOfIntents) || (state().intents.phase === 'none' && events.some(isOfWork))) intentsRead.readSoon(DEBOUNCE_MS);
      else if (events.some(isOfWork)) intentsRead.readLater(SPENT_MS);
    },
    stop: intentsRead.stop,
  };
}
