// A minimal browser for the model. The test plays the server.

import { makeModel } from '../../../public/app/model.js';
import { START } from './events.mjs';
import { makeTimers } from './timers.mjs';

/** @typedef {ReturnType<typeof openPage>} Page */

/** @param {any} body @param {number} [status] @param {Record<string, string>} [headers] */
export const json = (body, status = 200, headers = {}) => new Response(JSON.stringify(body), { status, headers });

/** A refusal of the server. @param {number} status @param {string} error @param {Record<string, string>} [headers] */
export const refusal = (status, error, headers) => json({ error, message: 'a sentence' }, status, headers);

/** A request that gets no answer. */
export const rejectFetch = () => Promise.reject(new TypeError('gone'));

/** A route whose requests wait until the test answers them, in `waiting`. */
export function pendingRoute() {
  /** @type {((response: Response) => void)[]} */
  const waiting = [];
  return { waiting, route: () => new Promise((resolve) => waiting.push(resolve)) };
}

/** A page whose stream is open. @param {Parameters<typeof openPage>[0]} [options] */
export async function openLivePage(options) {
  const page = openPage(options);
  await page.timers.advance(0);
  page.open();
  await page.timers.advance(50);
  return page;
}

export const GRAPH = { nodes: ['a', 'b', 'c'].map((id) => ({ id, size: 1, type: 'file' })), edges: [[0, 1]], locks: {}, version: 'abcdef0', state: 'ready', generated_at: 1 };

/**
 * @param {object} [options]
 * @param {string} [options.search]
 * @param {Record<string, (url: URL, request: any) => any>} [options.routes] Responses by the last part of the path; the others have defaults.
 */
export function openPage({ search = '?repo_url=r&branch=main', routes = {} } = {}) {
  const timers = makeTimers(START);
  /** @type {any[]} */
  const requests = [];
  /** @type {any[]} */
  const sockets = [];
  const usual = {
    graph: () => json(GRAPH, 200, { ETag: 'one' }),
    locks: () => json({ locks: [] }),
    activity: () => json({ events: [], cursor: '0-0' }),
    intents: () => json({ intents: [], state: 'REQUEST', owners: {}, locks: [] }),
    teams: () => json({ teams: [] }),
  };
  const answers = /** @type {Record<string, (url: URL, request: any) => any>} */ ({ ...usual, ...routes });
  class Socket {
    /** @type {string[]} */
    sent = [];
    isClosed = false;
    constructor(/** @type {URL} */ url) {
      this.url = url;
      sockets.push(this);
    }
    send(/** @type {string} */ text) {
      this.sent.push(text);
    }
    close() {
      this.isClosed = true;
    }
  }
  const page = new EventTarget();
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const stored = new Map();
  const location = { href: `http://127.0.0.1:3000/${search}`, search, pathname: '/' };
  const move = (/** @type {string} */ address) => {
    const url = new URL(address, location.href);
    Object.assign(location, { href: url.href, search: url.search });
  };
  const entries = [search || '/'];
  const browser = {
    document,
    location,
    navigator: { onLine: true },
    history: {
      pushState: (/** @type {any} */ _, /** @type {string} */ __, /** @type {string} */ address) => (entries.push(address), move(address)),
      replaceState: (/** @type {any} */ _, /** @type {string} */ __, /** @type {string} */ address) => (entries.splice(-1, 1, address), move(address)),
    },
    sessionStorage: {
      getItem: (/** @type {string} */ key) => stored.get(key) ?? null,
      setItem: (/** @type {string} */ key, /** @type {string} */ text) => stored.set(key, text),
      removeItem: (/** @type {string} */ key) => stored.delete(key),
    },
    fetch: async (/** @type {URL} */ url, /** @type {any} */ request) => {
      requests.push({ url, ...request });
      return answers[url.pathname.split('/').pop() ?? ''](url, request);
    },
    WebSocket: Socket,
    ...timers,
    requestAnimationFrame: (/** @type {() => void} */ callback) => timers.setTimeout(callback, 16),
    addEventListener: page.addEventListener.bind(page),
  };
  const model = makeModel(/** @type {any} */ (browser), timers.now);
  return {
    model, timers, requests, sockets, stored, entries, answers, browser,
    paths: (/** @type {string} */ name) => requests.filter(({ url }) => url.pathname.endsWith(name)).length,
    /** The browser goes back or forward. */
    navigate(/** @type {string} */ address) {
      move(address);
      page.dispatchEvent(new Event('popstate'));
    },
    fire: (/** @type {string} */ name) => page.dispatchEvent(new Event(name)),
    setVisibility(/** @type {'visible' | 'hidden'} */ visibilityState) {
      Object.assign(document, { visibilityState });
      document.dispatchEvent(new Event('visibilitychange'));
    },
    /** The page receives messages on the newest socket. */
    receive: (/** @type {any[]} */ ...messages) => messages.forEach((message) => sockets.at(-1).onmessage({ data: JSON.stringify(message) })),
    open(/** @type {object} */ rest = {}) {
      this.receive({ type: 'stream_opened', cursor: '1-0', heartbeat_seconds: 15, is_live: true, time_ms: timers.now(), ...rest });
    },
    closeSocket: (/** @type {number} */ code = 1006) => sockets.at(-1).onclose({ code }),
  };
}
