// Reads the ledger while it is in view: the newest lines, the lines that follow, and older ones on demand.

import { ApiError } from './api.js';
import { isIntentChange, isIntentWork } from './intents.js';
import { addNewerLines, addOlderLines, emptyLedger, startLedger } from './ledger.js';
import { coalesceCalls, makeTimer } from './scheduling.js';

/** Delay of a read, so that several events cause one. The server seals lines after it has responded. */
const DEBOUNCE_MS = 1000;
/** Delay of a second read: a change is recorded after the claim that allowed it, and no event reports that. */
const FOLLOWING_MS = 20_000;
/** Lines of the first read, and of one span of older lines. A filter selects few lines, so its span is larger. */
const FIRST = 50;
const SPAN = 100;
const FILTERED_SPAN = 2000;
/** Maximum number of lines in a response. */
const MAX_LINES = 500;
const MAX_SPANS = 4;
/** Maximum number of pages in one span: the server bounds the lines that it searches for one response. */
const MAX_PAGES = 6;

/** @param {import('./optional_read.js').WatchContext} context */
export function watchLedger({ repoUrl, api, clock, timers, state, dispatch }) {
  let isStopped = false;
  let isFollowed = false;
  const soon = makeTimer(() => read(), timers);
  const later = makeTimer(() => read(), timers);

  /**
   * @param {import('./types.js').LedgerFilter} requested If the user has chosen another filter since, the ledger is
   *   dropped.
   * @param {import('./types.js').Ledger} ledger
   */
  function setLedger(requested, ledger) {
    if (!isStopped && state().ledger.filter === requested) dispatch({ type: 'ledger', ledger });
  }

  /** @param {import('./types.js').LedgerFilter} filter @param {Record<string, string>} range */
  async function fetchLines({ intent, file }, range) {
    const query = { repo_url: repoUrl, ...range, ...(intent && { intent }), ...(file && { file }) };
    const { body } = await api.get('api/ledger', query);
    return body;
  }

  const read = coalesceCalls(async () => {
    soon.clear();
    const { ledger, intents } = state();
    if (isStopped || !isFollowed || intents.phase !== 'shown') return;
    try {
      await readNewer(ledger);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setLedger(ledger.filter, { ...state().ledger, message: error.message });
      const delay = error.retryDelay(state().connection, clock.now());
      if (delay !== null) soon.set(delay);
    }
  });

  /** @param {import('./types.js').Ledger} ledger */
  async function readNewer({ filter, sealed }) {
    if (sealed === null) {
      await readNewest(filter);
      return;
    }
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const body = await fetchLines(filter, { after: String(state().ledger.newest), limit: String(MAX_LINES) });
      if (state().ledger.filter !== filter) return;
      setLedger(filter, addNewerLines(state().ledger, body));
      if (body.next === undefined) return;
    }
    // Too many lines were added meanwhile: the list restarts with the newest ones.
    await readNewest(filter);
  }

  /** @param {import('./types.js').LedgerFilter} filter */
  async function readNewest(filter) {
    setLedger(filter, startLedger(filter, await fetchLines(filter, { last: String(FIRST) })));
  }

  /** @param {import('./types.js').Ledger} ledger @param {number} from */
  async function readSpan({ filter, oldest }, from) {
    const bodies = [];
    let cursor = from;
    for (let page = 0; page < MAX_PAGES && cursor < oldest; page += 1) {
      const limit = String(Math.min(MAX_LINES, oldest - cursor));
      const body = await fetchLines(filter, { after: String(cursor), limit });
      bodies.push(body);
      cursor = body.next ?? oldest;
    }
    return bodies;
  }

  const loadOlder = coalesceCalls(async () => {
    const { filter } = state().ledger;
    const span = filter.intent || filter.file ? FILTERED_SPAN : SPAN;
    for (let count = 0; count < MAX_SPANS; count += 1) {
      const { ledger } = state();
      if (isStopped || ledger.filter !== filter || !ledger.hasOlder) return;
      const from = Math.max(ledger.base?.count ?? 0, ledger.oldest - span);
      const bodies = await readSpan(ledger, from);
      // If the list has restarted meanwhile, these lines do not join its oldest one.
      const { ledger: current } = state();
      if (current.oldest !== ledger.oldest) continue;
      setLedger(filter, addOlderLines(current, bodies, from));
      if ((state().ledger.lines.at(-1)?.seq ?? Infinity) <= ledger.oldest) return;
    }
  });

  return {
    read,
    loadOlder,
    /** @param {boolean} isNowFollowed Whether the ledger is in view. */
    setFollowed(isNowFollowed) {
      if (isNowFollowed === isFollowed) return;
      isFollowed = isNowFollowed;
      read();
    },
    /** @param {import('./types.js').LedgerFilter} filter */
    setFilter(filter) {
      if (isStopped) return;
      dispatch({ type: 'ledger', ledger: emptyLedger(filter) });
      read();
    },
    /** @param {any[]} events */
    onEvents(events) {
      if (!isFollowed) return;
      const isChanged = (/** @type {any} */ event) =>
        isIntentChange(event) || isIntentWork(event) || event.type === 'ledger_trimmed';
      if (!events.some(isChanged)) return;
      soon.set(DEBOUNCE_MS);
      later.set(FOLLOWING_MS);
    },
    stop() {
      isStopped = true;
      soon.clear();
      later.clear();
    },
  };
}
