// The connection to the events of one branch. It resumes after each break until it is stopped.

import { compareIds } from './activity.js';

/** @typedef {import('./transport.js').Transport} Transport */

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** How long a connection may take to open. */
const OPEN_MS = 12_000;
/** Intervals between heartbeats after which a silent connection has failed. */
const MAX_SILENT_INTERVALS = 2.5;
/** Close codes after which the stream resumes at once: the server shuts down, or the connection is at its age limit. */
const AT_ONCE = new Set([1001, 4000]);
/** Close codes after which another attempt would fail too. */
const FINAL_CODES = new Set([4400, 4401, 4403, 4404]);

/**
 * @typedef {object} Listener
 * @property {(opened: { isResumed: boolean, isLive: boolean, timeMs: number }) => void} opened
 * @property {() => void} resync The log no longer has the events that the page missed.
 * @property {(event: any) => void} event
 * @property {(isLive: boolean, timeMs: number) => void} heartbeat
 * @property {(error: { code: string, message: string, retryAfter: number | null }) => void} refused
 * @property {(retryInMs: number | null) => void} broken `null`: there is no further attempt.
 */

/**
 * @typedef {object} Stream
 * @property {() => void} start
 * @property {() => void} hurry If it waits for the next attempt, connects at once.
 * @property {() => void} stop
 */

/**
 * @param {object} options
 * @param {URL} options.url
 * @param {() => string | null} options.token
 * @param {Transport[]} options.transports The stream uses the first. If that fails to open twice although the server
 *   answers requests, it uses the next.
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
  /** Failed attempts to open, although the server answers requests. */
  let unopened = 0;
  /** The transport that opened last. */
  let lastOpened = 0;
  let isWaiting = false;
  /** @type {(() => void) | null} */
  let close = null;
  /** @type {any} Starts the next attempt, or ends a silent connection. */
  let timer;

  function connect() {
    isWaiting = false;
    let isOpen = false;
    let silenceMs = OPEN_MS;
    /** The pause that the server asks for. */
    let retryAfterMs = 0;
    const address = new URL(url);
    if (cursor) address.searchParams.set('last_event_id', cursor);

    /** @param {number} code */
    const onClosed = (code) => {
      clearTimeout(timer);
      close = null;
      if (!isOpen && isAnswering()) unopened += 1;
      if (FINAL_CODES.has(code)) {
        listener.broken(null);
        return;
      }
      const isAtOnce = isOpen && AT_ONCE.has(code);
      if (isAtOnce) failures = 0;
      const pause = isAtOnce ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
      failures += 1;
      // The random part spreads the attempts of pages that lost the same server.
      wait(Math.max(retryAfterMs, pause * (0.5 + random() / 2)));
    };
    const restartSilenceTimer = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        close?.();
        onClosed(1006);
      }, silenceMs);
    };
    /** @param {string | undefined} id */
    const advance = (id) => {
      if (id && (cursor === null || compareIds(id, cursor) > 0)) cursor = id;
    };

    const onMessage = (/** @type {any} */ message) => {
      restartSilenceTimer();
      const text = String(message.message ?? '');
      switch (message.type) {
        case 'stream_opened':
          isOpen = true;
          failures = 0;
          unopened = 0;
          lastOpened = choice;
          silenceMs = MAX_SILENT_INTERVALS * (message.heartbeat_seconds ?? 20) * 1000;
          restartSilenceTimer();
          listener.opened({ isResumed: cursor !== null, isLive: message.is_live !== false, timeMs: message.time_ms });
          advance(message.cursor);
          break;
        case 'resync':
          cursor = message.cursor;
          listener.resync();
          break;
        case 'heartbeat':
          advance(message.cursor);
          listener.heartbeat(message.is_live !== false, message.time_ms);
          break;
        case 'error':
          retryAfterMs = (message.retry_after ?? 0) * 1000;
          listener.refused({ code: message.error, message: text, retryAfter: message.retry_after ?? null });
          break;
        case 'stream_ended':
          if (message.reason !== 'FORBIDDEN') break;
          listener.refused({ code: message.reason, message: text, retryAfter: null });
          break;
        default:
          // The server may send an event twice.
          if (message.id && cursor !== null && compareIds(message.id, cursor) <= 0) break;
          advance(message.id);
          listener.event(message);
      }
    };
    restartSilenceTimer();
    const choice = (lastOpened + Math.floor(unopened / 2)) % transports.length;
    close = transports[choice](address, token(), { message: onMessage, closed: onClosed });
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
