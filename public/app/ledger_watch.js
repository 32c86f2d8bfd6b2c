// Reads the ledger while somebody looks at it: the newest lines, those that follow, and older ones on demand.

import { ApiError } from './api.js';
import { isOfIntents, isOfWork } from './intents.js';
import { continuedLedger, lengthenedLedger, startedLedger, unreadLedger } from './ledger.js';
import { makeTimer, oneAtATime } from './reads.js';

/** Before a read that several events want. Lines are sealed after the answer to what made them. */
const DEBOUNCE_MS = 1000;
/** After an event, what was done follows it: a change is recorded after the claim that allowed it, and no event tells of that. */
const FOLLOWING_MS = 20_000;
const UNANSWERED_MS = 5000;
/** Lines that are read at first, and those between two points that are read at once for a filter. */
const FIRST = 50;
const SPAN = 100;
const FILTERED_SPAN = 2000;
/** Most lines of an answer. */
const MOST_LINES = 500;
const MOST_SPANS = 4;
/** Pages of one span: the server bounds what it looks through for an answer. */
const MOST_PAGES = 6;

/**
 * @param {object} options
 * @param {string} options.repoUrl
 * @param {import('./api.js').Api} options.api
 * @param {import('./clock.js').Clock} options.clock
 * @param {import('./watch.js').Timers} options.timers
 * @param {() => import('./types.js').State} options.state
 * @param {(action: import('./reduce.js').Action) => void} options.dispatch
 */
export function watchLedger({ repoUrl, api, clock, timers, state, dispatch }) {
  let isStopped = false;
  let isFollowed = false;
  const soon = makeTimer(() => read(), timers);
  const later = makeTimer(() => read(), timers);

  /**
   * @param {import('./types.js').Ledger} of What was asked for. After another choice, its answer is not wanted any more.
   * @param {import('./types.js').Ledger} ledger
   */
  function tell(of, ledger) {
    if (!isStopped && state().ledger.filter === of.filter) dispatch({ type: 'ledger', ledger });
  }

  /** @param {import('./types.js').LedgerFilter} filter @param {Record<string, string>} range */
  async function get({ intent, file }, range) {
    const { body } = await api.get('api/ledger', { repo_url: repoUrl, ...range, ...(intent && { intent }), ...(file && { file }) });
    return body;
  }

  const read = oneAtATime(async () => {
    soon.clear();
    const { ledger, intents } = state();
    if (isStopped || !isFollowed || intents.phase !== 'shown') return;
    try {
      await readNewer(ledger);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      tell(ledger, { ...state().ledger, message: error.message });
      const { retryAt } = error.problem;
      if (error.isUnanswered ? state().connection.phase === 'live' : retryAt !== null) soon.set(Math.max(UNANSWERED_MS, (retryAt ?? 0) - clock.now()));
    }
  });

  /** @param {import('./types.js').Ledger} ledger */
  async function readNewer(ledger) {
    const { filter } = ledger;
    if (ledger.sealed === null) {
      tell(ledger, startedLedger(filter, await get(filter, { last: String(FIRST) })));
      return;
    }
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const body = await get(filter, { after: String(state().ledger.newest), limit: String(MOST_LINES) });
      if (state().ledger.filter !== filter) return;
      tell(ledger, continuedLedger(state().ledger, body));
      if (body.next === undefined) return;
    }
    // Too much has happened meanwhile: it begins anew at the end.
    tell(ledger, startedLedger(filter, await get(filter, { last: String(FIRST) })));
  }

  /**
   * @param {import('./types.js').Ledger} ledger
   * @param {number} from
   */
  async function readSpan({ filter, oldest }, from) {
    const bodies = [];
    let cursor = from;
    for (let page = 0; page < MOST_PAGES && cursor < oldest; page += 1) {
      const body = await get(filter, { after: String(cursor), limit: String(Math.min(MOST_LINES, oldest - cursor)) });
      bodies.push(body);
      cursor = body.next ?? oldest;
    }
    return bodies;
  }

  const lengthen = oneAtATime(async () => {
    const before = state().ledger;
    const span = before.filter.intent || before.filter.file ? FILTERED_SPAN : SPAN;
    for (let count = 0; count < MOST_SPANS; count += 1) {
      const { ledger } = state();
      if (isStopped || ledger.filter !== before.filter || !ledger.hasOlder) return;
      const from = Math.max(ledger.base?.count ?? 0, ledger.oldest - span);
      const bodies = await readSpan(ledger, from);
      // Newer lines may have come meanwhile; where it has begun anew, these do not follow its oldest one.
      const { ledger: current } = state();
      if (current.oldest !== ledger.oldest) continue;
      tell(before, lengthenedLedger(current, bodies, from));
      if ((state().ledger.lines.at(-1)?.seq ?? Infinity) <= ledger.oldest) return;
    }
  });

  return {
    read,
    lengthen,
    /** @param {boolean} next */
    follow(next) {
      if (next === isFollowed) return;
      isFollowed = next;
      read();
    },
    /** @param {import('./types.js').LedgerFilter} filter */
    filter(filter) {
      if (isStopped) return;
      dispatch({ type: 'ledger', ledger: unreadLedger(filter) });
      read();
    },
    /** @param {any[]} events */
    heard(events) {
      if (!isFollowed || !events.some((event) => isOfIntents(event) || isOfWork(event) || event.type === 'ledger_trimmed')) return;
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
