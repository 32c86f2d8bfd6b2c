// Reads the intents when they were never read, when the stream is back, or when an event says that they have changed.

import { emptyIntents, isIntentChange, isIntentWork, readIntents } from './intents.js';
import { makeOptionalRead } from './optional_read.js';

/** Delay of a read, so that several events cause one. */
const DEBOUNCE_MS = 250;
/** Delay before the page reads what claims have spent: claims are frequent, and their events say the rest. */
const SPENT_MS = 10_000;

/** @param {import('./optional_read.js').WatchContext} context */
export function watchIntents(context) {
  const { repoUrl, branch, api, clock, state, dispatch } = context;

  /** @param {import('./types.js').Intents} intents */
  function setIntents(intents) {
    if (!reads.isStopped()) dispatch({ type: 'intents', intents, now: clock.now() });
  }

  const reads = makeOptionalRead(context, {
    async load() {
      const { body } = await api.get('api/intents', { repo_url: repoUrl, view: 'state' });
      setIntents(readIntents(body, branch));
    },
    onFailure(phase, message) {
      if (phase !== 'unavailable') {
        setIntents({ ...emptyIntents(), phase, message: phase === 'sign_in' ? message : null });
      } else if (state().intents.phase === 'shown') setIntents({ ...state().intents, message });
    },
  });

  return {
    read: reads.read,
    readFirst: reads.readFirst,
    /** No event reports what shell commands and tokens spend, so the page reads it when the user comes back. */
    async readShown() {
      if (state().intents.phase === 'shown') await reads.read();
    },
    /** @param {any[]} events */
    onEvents(events) {
      if (reads.isOver()) return;
      const isWorkedOn = events.some(isIntentWork);
      // The first sign of work in a repository without intents means that it has some now.
      const isFirst = state().intents.phase === 'none' && isWorkedOn;
      if (isFirst || events.some(isIntentChange)) reads.readSoon(DEBOUNCE_MS);
      else if (isWorkedOn) reads.readLater(SPENT_MS);
    },
    stop: reads.stop,
  };
}
