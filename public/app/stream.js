// The connection to the events of one branch: it resumes after each break, until it is told to stop.

import { compareIds } from './activity.js';

/** @typedef {import('./transport.js').Transport} Transport */

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** How long a connection may take to open. */
const OPEN_MS = 12_000;
/** Heartbeats that may be missing, and a half. */
const MISSED = 2.5;
/** Close codes after which the stream resumes at once: the server shuts down, or a connection has lasted its time. */
const AT_ONCE = new Set([1001, 4000]);
/** Close codes after which nothing changes by trying again. */
const FINAL = new Set([4400, 4401, 4403, 4404]);

/**
 * @typedef {object} Listener
 * @property {(opened: { isResumed: boolean, isLive: boolean, timeMs: number }) => void} opened
 * @property {() => void} resync What was missed is not in the log any more.
 * @property {(event: any) => void} event
 * @property {(isLive: boolean, timeMs: number) => void} heartbeat
 * @property {(error: { code: string, message: string, retryAfter: number | null }) => void} refused
 * @property {(retryInMs: number | null) => void} broken Without a number, it will not be tried again.
 */

/**
 * @typedef {object} Stream
 * @property {() => void} start
 * @property {() => void} hurry Tries at once if it waits for the next attempt.
 * @property {() => void} stop
 */

/**
 * @param {object} options
 * @param {URL} options.url
 * @param {() => string | null} options.token
 * @param {Transport[]} options.transports The first is used unless it does not open twice, although the server answers requests.
 * @param {() => boolean} options.isAnswering Whether the server has answered a request since the last attempt.
 * @param {Listener} options.listener
 * @param {import('./watch.js').Timers} options.timers
 * @param {() => number} [options.random]
 * @returns {Stream}
 */
export function makeStream({ url, token, transports, isAnswering, listener, timers, random = Math.random }) {
  const { setTimeout, clearTimeout } = timers;
  /** @type {string | null} The newest id or cursor. */
  let cursor = null;
  let failures = 0;
  let unopened = 0;
  /** The transport that opened last. */
  let proven = 0;
  let isWaiting = false;
  /** @type {(() => void) | null} */
  let close = null;
  /** @type {any} Of the next attempt, or of the silence that ends this one. */
  let timer;

  function connect() {
    isWaiting = false;
    let isOpen = false;
    let silenceMs = OPEN_MS;
    /** What the server asks us to wait. */
    let askedMs = 0;
    const address = new URL(url);
    if (cursor) address.searchParams.set('last_event_id', cursor);

    /** @param {number} code */
    const ended = (code) => {
      clearTimeout(timer);
      close = null;
      if (!isOpen && isAnswering()) unopened += 1;
      if (FINAL.has(code)) {
        listener.broken(null);
        return;
      }
      if (isOpen && AT_ONCE.has(code)) failures = 0;
      const pause = isOpen && AT_ONCE.has(code) ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
      failures += 1;
      // Many pages that lost one server do not come back all at once.
      wait(Math.max(askedMs, pause * (0.5 + random() / 2)));
    };
    const expect = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        close?.();
        ended(1006);
      }, silenceMs);
    };
    /** @param {string | undefined} id */
    const seen = (id) => {
      if (id && (cursor === null || compareIds(id, cursor) > 0)) cursor = id;
    };

    const message = (/** @type {any} */ said) => {
      expect();
      switch (said.type) {
        case 'stream_opened':
          isOpen = true;
          failures = 0;
          unopened = 0;
          proven = choice;
          silenceMs = MISSED * (said.heartbeat_seconds ?? 20) * 1000;
          expect();
          listener.opened({ isResumed: cursor !== null, isLive: said.is_live !== false, timeMs: said.time_ms });
          seen(said.cursor);
          break;
        case 'resync':
          cursor = said.cursor;
          listener.resync();
          break;
        case 'heartbeat':
          seen(said.cursor);
          listener.heartbeat(said.is_live !== false, said.time_ms);
          break;
        case 'error':
          askedMs = (said.retry_after ?? 0) * 1000;
          listener.refused({ code: said.error, message: String(said.message ?? ''), retryAfter: said.retry_after ?? null });
          break;
        case 'stream_ended':
          if (said.reason === 'FORBIDDEN') listener.refused({ code: said.reason, message: String(said.message ?? ''), retryAfter: null });
          break;
        default:
          // An event that comes twice is told once.
          if (said.id && cursor !== null && compareIds(said.id, cursor) <= 0) break;
          seen(said.id);
          listener.event(said);
      }
    };
    expect();
    const choice = (proven + Math.floor(unopened / 2)) % transports.length;
    close = transports[choice](address, token(), { message, closed: ended });
  }

  /** @param {number} ms */
  function wait(ms) {
    isWaiting = true;
    timer = setTimeout(connect, ms);
    listener.broken(ms);
  }

  return {
    start: connect,
    hurry() {
      if (!isWaiting) return;
      clearTimeout(timer);
      connect();
    },
    stop() {
      clearTimeout(timer);
      isWaiting = false;
      close?.();
      close = null;
    },
  };
}
