import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { makeStream } from '../../../public/app/stream.js';
import { socketTransport, streamTransport } from '../../../public/app/transport.js';
import { makeTimers } from './timers.mjs';

const URL_OF_EVENTS = new URL('http://127.0.0.1/api/events?repo_url=r&branch=main');
const streamOpened = (/** @type {string} */ cursor) => ({ type: 'stream_opened', cursor, heartbeat_seconds: 10, is_live: true, time_ms: 5 });
const event = (/** @type {string} */ id) => ({ type: 'lock_granted', id });

/** A stream over transports that a test plays, and the calls of its listener. */
function openStream({ transports = 1, isAnswering = true } = {}) {
  const timers = makeTimers();
  /** @type {any[]} */
  const calls = [];
  /** @type {{ id: string | null, token: string | null, transport: number, isClosed: boolean, sink: import('../../../public/app/transport.js').Sink }[]} */
  const attempts = [];
  const transport = (/** @type {number} */ index) => (/** @type {URL} */ url, /** @type {string | null} */ token, /** @type {any} */ sink) => {
    const attempt = { id: url.searchParams.get('last_event_id'), token, transport: index, isClosed: false, sink };
    attempts.push(attempt);
    return () => void (attempt.isClosed = true);
  };
  const stream = makeStream({
    url: URL_OF_EVENTS,
    token: () => 'secret',
    transports: Array.from({ length: transports }, (_, index) => transport(index)),
    timers,
    isAnswering: () => isAnswering,
    random: () => 1,
    listener: {
      opened: (given) => calls.push(['opened', given.isResumed]),
      resync: () => calls.push(['resync']),
      event: ({ id }) => calls.push(['event', id]),
      heartbeat: (isLive) => calls.push(['heartbeat', isLive]),
      refused: ({ code, retryAfter }) => calls.push(['refused', code, retryAfter]),
      broken: (ms) => calls.push(['broken', ms]),
    },
  });
  stream.start();
  const last = () => /** @type {typeof attempts[0]} */ (attempts.at(-1));
  return { timers, calls, attempts, stream, last, receive: (/** @type {any[]} */ ...messages) => messages.forEach((message) => last().sink.message(message)) };
}

test('events are delivered once, and a break resumes with the newest id', async () => {
  const { calls, receive, last, attempts, timers } = openStream();
  assert.equal(last().token, 'secret');
  receive(streamOpened('5-0'), event('6-0'), event('7-0'), event('6-0'));
  last().sink.closed(1006);
  await timers.advance(500);
  assert.deepEqual(attempts.map(({ id }) => id), [null, '7-0']);
  receive(streamOpened('7-0'), event('7-0'), event('8-0'));
  assert.deepEqual(calls, [['opened', false], ['event', '6-0'], ['event', '7-0'], ['broken', 500], ['opened', true], ['event', '8-0']]);
});

test('the cursor of a heartbeat counts, and that of a resync even if it is older', async () => {
  const { receive, last, attempts, timers, calls } = openStream();
  receive(streamOpened('5-0'), { type: 'heartbeat', cursor: '9-0', is_live: false, time_ms: 1 });
  last().sink.closed(1001);
  await timers.advance(0);
  assert.equal(attempts[1].id, '9-0');
  receive(streamOpened('9-0'), { type: 'resync', cursor: '3-0' }, event('4-0'));
  assert.deepEqual(calls.slice(1), [['heartbeat', false], ['broken', 0], ['opened', true], ['resync'], ['event', '4-0']]);
});

test('pauses grow from half a second to fifteen, and a stream that opens starts anew', async () => {
  const { calls, receive, last, timers } = openStream();
  for (let attempt = 0; attempt < 8; attempt++) {
    last().sink.closed(1006);
    await timers.advance(calls.at(-1)[1]);
  }
  assert.deepEqual(calls.map(([, ms]) => ms), [500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
  receive(streamOpened('1-0'));
  last().sink.closed(1013);
  assert.deepEqual(calls.at(-1), ['broken', 500]);
});

test('a server that shuts down is tried at once, but not again and again', async () => {
  const { calls, receive, last, timers } = openStream();
  receive(streamOpened('1-0'));
  last().sink.closed(1001);
  await timers.advance(0);
  last().sink.closed(1001);
  assert.deepEqual(calls.slice(1), [['broken', 0], ['broken', 1000]]);
});

test('a refusal is reported, and ends the stream', async () => {
  for (const code of [4400, 4401, 4403, 4404]) {
    const { calls, receive, last, attempts, timers } = openStream();
    receive({ type: 'error', error: 'UNAUTHORIZED', message: 'no' });
    last().sink.closed(code);
    await timers.advance(600_000);
    assert.deepEqual(calls, [['refused', 'UNAUTHORIZED', null], ['broken', null]]);
    assert.equal(attempts.length, 1);
    assert.equal(timers.waiting(), 0);
  }
});

test('a server that asks for a pause gets it', async () => {
  const { calls, receive, last, attempts, timers } = openStream();
  receive({ type: 'error', error: 'RATE_LIMITED', message: 'no', retry_after: 7 });
  last().sink.closed(1013);
  assert.deepEqual(calls, [['refused', 'RATE_LIMITED', 7], ['broken', 7000]]);
  await timers.advance(6999);
  assert.equal(attempts.length, 1);
  await timers.advance(1);
  assert.equal(attempts.length, 2);
});

test('a revoked right is reported', () => {
  const { calls, receive } = openStream();
  receive(streamOpened('1-0'), { type: 'stream_ended', reason: 'FORBIDDEN', message: 'not any more' }, { type: 'stream_ended', reason: 'SLOW', message: 'slow' });
  assert.deepEqual(calls.slice(1), [['refused', 'FORBIDDEN', null]]);
});

test('a stream without a heartbeat for two and a half intervals is broken', async () => {
  const { calls, receive, attempts, timers } = openStream();
  receive(streamOpened('1-0'));
  await timers.advance(24_000);
  receive({ type: 'heartbeat', cursor: '1-0', is_live: true, time_ms: 1 });
  await timers.advance(24_999);
  assert.equal(attempts.length, 1);
  await timers.advance(1);
  assert.equal(attempts[0].isClosed, true);
  assert.deepEqual(calls.at(-1), ['broken', 500]);
});

test('a connection that never opens is closed', async () => {
  const { calls, attempts, timers } = openStream();
  await timers.advance(12_000);
  assert.deepEqual(calls, [['broken', 500]]);
  assert.equal(attempts[0].isClosed, true);
});

test('the second transport is used where the first does not open twice', async () => {
  const { calls, receive, last, attempts, timers } = openStream({ transports: 2 });
  const fail = () => {
    last().sink.closed(1006);
    return timers.advance(calls.at(-1)[1]);
  };
  await fail();
  await fail();
  receive(streamOpened('1-0'));
  for (let attempt = 0; attempt < 3; attempt++) await fail();
  assert.deepEqual(attempts.map(({ transport }) => transport), [0, 0, 1, 1, 1, 0]);
});

test('the first transport is kept where the server does not answer at all', async () => {
  const { calls, last, attempts, timers } = openStream({ transports: 2, isAnswering: false });
  for (let attempt = 0; attempt < 5; attempt++) {
    last().sink.closed(1006);
    await timers.advance(calls.at(-1)[1]);
  }
  assert.deepEqual(attempts.map(({ transport }) => transport), [0, 0, 0, 0, 0, 0]);
});

test('a stream that waits tries at once when it is hurried, and not at all when it is stopped', async () => {
  const { last, attempts, timers, stream } = openStream();
  stream.hurry();
  assert.equal(attempts.length, 1, 'it is connecting already');
  last().sink.closed(1006);
  stream.hurry();
  assert.equal(attempts.length, 2);
  last().sink.closed(1006);
  stream.stop();
  await timers.advance(60_000);
  assert.equal(attempts.length, 2);
  assert.equal(timers.waiting(), 0);
});

test('a WebSocket has the token in its first message, and nowhere else', () => {
  /** @type {any} */
  let socket;
  class Socket {
    /** @type {string[]} */
    sent = [];
    constructor(/** @type {URL} */ url) {
      this.url = String(url);
      socket = this;
    }
    send(/** @type {string} */ text) {
      this.sent.push(text);
    }
    close() {}
  }
  /** @type {any[]} */
  const calls = [];
  const close = socketTransport(/** @type {any} */ (Socket))(URL_OF_EVENTS, 'secret', { message: (message) => calls.push(message.type), closed: (code) => calls.push(code) });
  assert.equal(socket.url, 'ws://127.0.0.1/api/events?repo_url=r&branch=main');
  socket.onopen();
  assert.deepEqual(socket.sent, ['{"type":"authenticate","token":"secret"}']);
  socket.onmessage({ data: '{"type":"heartbeat"}' });
  socket.onmessage({ data: 'no JSON' });
  socket.onmessage({ data: '{}' });
  close();
  socket.onclose({ code: 1000 });
  socket.onmessage({ data: '{"type":"heartbeat"}' });
  assert.deepEqual(calls, ['heartbeat']);
});

/**
 * Reads events from a server by `fetch`.
 * @param {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => void} answer
 * @returns {Promise<any[]>} The messages and the close code.
 */
async function readFrom(answer) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  /** @type {any[]} */
  const calls = [];
  await new Promise((resolve) => {
    streamTransport(fetch)(new URL(`http://127.0.0.1:${port}/api/events`), 'secret', {
      message: (message) => calls.push(message),
      closed: (code) => resolve(calls.push(code)),
    });
  });
  server.close();
  return calls;
}

test('server-sent events are read however they are cut, with the token in a header', async () => {
  const calls = await readFrom((request, response) => {
    assert.equal(request.headers.authorization, 'Bearer secret');
    assert.equal(request.headers.accept, 'text/event-stream');
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const text = ': a comment\n\nid: 1-0\nevent: lock_granted\ndata: {"type":"lock_granted","message":"ü"}\n\ndata: {"type":\ndata: "heartbeat"}\r\n\r\nid: 2-0\ndata: {"type":"late"';
    const bytes = Buffer.from(text);
    const cut = bytes.indexOf('ü') + 1;
    response.write(bytes.subarray(0, cut));
    setTimeout(() => response.end(bytes.subarray(cut)), 20);
  });
  assert.deepEqual(calls, [{ type: 'lock_granted', message: 'ü', id: '1-0' }, { type: 'heartbeat' }, 1006]);
});

test('a refused request for server-sent events says the same as a WebSocket', async () => {
  const refused = (/** @type {number} */ status, /** @type {string} */ error, headers = {}) =>
    readFrom((_, response) => response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify({ error, message: 'no' })));
  assert.deepEqual(await refused(401, 'UNAUTHORIZED'), [{ type: 'error', error: 'UNAUTHORIZED', message: 'no', retry_after: undefined }, 4401]);
  assert.deepEqual(await refused(429, 'RATE_LIMITED', { 'Retry-After': '7' }), [{ type: 'error', error: 'RATE_LIMITED', message: 'no', retry_after: 7 }, 1013]);
  assert.deepEqual(await refused(404, 'UNKNOWN_ROUTE'), [1013], 'a server without events is no missing repository');
});
