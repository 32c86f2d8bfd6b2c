// The two transports of events: a WebSocket, and server-sent events by `fetch`, which can send the token in a header.

/**
 * @typedef {object} Sink
 * @property {(message: any) => void} message Gets an object with a `type`.
 * @property {(code: number) => void} closed Called once, at the end, with a WebSocket close code. 1006: the connection
 *   broke.
 */

/**
 * Returns a function that closes the connection. After that, the sink gets nothing.
 * @typedef {(url: URL, token: string | null, sink: Sink) => () => void} Transport
 */

/** @param {string} text @returns {any} `null` if the text is not a message. */
function parseMessage(text) {
  try {
    const message = JSON.parse(text);
    return typeof message?.type === 'string' ? message : null;
  } catch {
    return null;
  }
}

/** @param {typeof WebSocket} WebSocket @returns {Transport} */
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
      const message = parseMessage(String(data));
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

/** @type {Record<number, number>} By HTTP status. */
const CLOSE_CODES = { 400: 4400, 401: 4401, 403: 4403, 404: 4404 };

/** @param {typeof fetch} fetch @returns {Transport} */
export function streamTransport(fetch) {
  return (url, token, sink) => {
    const abort = new AbortController();
    const { signal } = abort;
    /** @type {Record<string, string>} */
    const headers = { Accept: 'text/event-stream' };
    if (token) headers.Authorization = `Bearer ${token}`;
    const options = /** @type {RequestInit} */ ({ headers, signal, cache: 'no-store', redirect: 'error' });
    readStream(url, options, fetch, (message) => signal.aborted || sink.message(message))
      .catch(() => 1006)
      .then((code) => signal.aborted || sink.closed(code));
    return () => abort.abort();
  };
}

/**
 * @param {URL} url
 * @param {RequestInit} options
 * @param {typeof globalThis.fetch} fetch
 * @param {(message: any) => void} onMessage
 * @returns {Promise<number>} The close code.
 */
async function readStream(url, options, fetch, onMessage) {
  const response = await fetch(url, options);
  const type = response.headers.get('Content-Type') ?? '';
  if (!response.ok || !response.body || !type.startsWith('text/event-stream')) {
    const body = await response.json().catch(() => null);
    // A server without a route for events must not look as if the repository did not exist.
    if (body?.error === 'UNKNOWN_ROUTE') return 1013;
    const retryAfter = Number(response.headers.get('Retry-After')) || undefined;
    if (body?.error) onMessage({ type: 'error', error: body.error, message: body.message, retry_after: retryAfter });
    return CLOSE_CODES[response.status] ?? 1013;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return 1006;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split(/\r?\n/);
      const field = (/** @type {string} */ name) => lines
        .filter((line) => line.startsWith(`${name}:`))
        .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
      const message = parseMessage(field('data').join('\n'));
      const [id = ''] = field('id');
      if (message) onMessage(message.id || !/^\d+-\d+$/.test(id) ? message : { ...message, id });
    }
  }
}
