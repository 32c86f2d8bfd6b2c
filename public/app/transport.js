// Two ways to the events: a WebSocket, or server-sent events by `fetch`, which can send the token in a header.

/**
 * @typedef {object} Sink
 * @property {(message: any) => void} message An object with a `type`.
 * @property {(code: number) => void} closed Once, at the end. A code of a WebSocket: 1006 for a connection that broke.
 */

/**
 * @typedef {(url: URL, token: string | null, sink: Sink) => () => void} Transport Returns what closes it; nothing is told after that.
 */

/**
 * @param {string} text
 * @returns {any} The message, or `null` for what is none.
 */
function parse(text) {
  try {
    const message = JSON.parse(text);
    return typeof message?.type === 'string' ? message : null;
  } catch {
    return null;
  }
}

/**
 * @param {typeof WebSocket} WebSocket
 * @returns {Transport}
 */
export function socketTransport(WebSocket) {
  return (url, token, sink) => {
    const address = new URL(url);
    address.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(address);
    let isOpen = true;
    socket.onopen = () => {
      if (token) socket.send(JSON.stringify({ type: 'authenticate', token }));
    };
    socket.onmessage = ({ data }) => {
      const message = parse(String(data));
      if (isOpen && message) sink.message(message);
    };
    socket.onclose = ({ code }) => {
      if (isOpen) sink.closed(code);
      isOpen = false;
    };
    return () => {
      isOpen = false;
      socket.close(1000);
    };
  };
}

/** @type {Record<number, number>} The close code of a WebSocket that says the same as a status. */
const CODES = { 400: 4400, 401: 4401, 403: 4403, 404: 4404 };

/**
 * @param {typeof fetch} fetch
 * @returns {Transport}
 */
export function streamTransport(fetch) {
  return (url, token, sink) => {
    const abort = new AbortController();
    const { signal } = abort;
    /** @type {Record<string, string>} */
    const headers = { Accept: 'text/event-stream' };
    if (token) headers.Authorization = `Bearer ${token}`;
    read(url, { headers, signal, cache: 'no-store', redirect: 'error' }, fetch, (message) => signal.aborted || sink.message(message))
      .catch(() => 1006)
      .then((code) => signal.aborted || sink.closed(code));
    return () => abort.abort();
  };
}

/**
 * @param {URL} url
 * @param {RequestInit} options
 * @param {typeof globalThis.fetch} fetch
 * @param {(message: any) => void} tell
 * @returns {Promise<number>} The close code.
 */
async function read(url, options, fetch, tell) {
  const response = await fetch(url, options);
  const type = response.headers.get('Content-Type') ?? '';
  if (!response.ok || !response.body || !type.startsWith('text/event-stream')) {
    const body = await response.json().catch(() => null);
    if (body?.error && body.error !== 'UNKNOWN_ROUTE') tell({ type: 'error', error: body.error, message: body.message, retry_after: Number(response.headers.get('Retry-After')) || undefined });
    // A server without events is no reason to say that there is no such repository.
    return body?.error === 'UNKNOWN_ROUTE' ? 1013 : CODES[response.status] ?? 1013;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return 1006;
    const parts = (rest + value).split(/\r?\n\r?\n/);
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const lines = part.split(/\r?\n/);
      const field = (/** @type {string} */ name) =>
        lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''));
      const message = parse(field('data').join('\n'));
      if (message) tell(message.id || !/^\d+-\d+$/.test(field('id')[0] ?? '') ? message : { ...message, id: field('id')[0] });
    }
  }
}
