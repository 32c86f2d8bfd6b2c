import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { makeStream } from '../../../public/app/stream.js';
import { socketTransport, streamTransport } from '../../../public/app/transport.js';
import { makeTimers } from './timers.mjs';

const URL_OF_EVENTS = new URL('http://127.0.0.1/api/events?repo_url=r&branch=main');
const opened = (/** @type {string} */ cursor) => ({ type: 'stream_opened', cursor, heartbeat_seconds: 10, is_live: true, time_ms: 5 });
const event = (/** @type {string} */ id) => ({ type: 'lock_granted', id });

/** A stream over transports that a test plays, and what its listener is told. */
function play({ transports = 1, isAnswering = true } = {}) {
  const timers = makeTimers();
  /** @type {any[]} */
  const told = [];
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
      opened: (given) => told.push(['opened', given.isResumed]),
      resync: () => told.push(['resync']),
      event: ({ id }) => told.push(['event', id]),
      heartbeat: (isLive) => told.push(['heartbeat', isLive]),
      refused: ({ code, retryAfter }) => told.push(['refused', code, retryAfter]),
      broken: (ms) => told.push(['broken', ms]),
    },
  });
  stream.start();
  const last = () => /** @type {typeof attempts[0]} */ (attempts.at(-1));
  return { timers, told, attempts, stream, last, say: (/** @type {any[]} */ ...messages) => messages.forEach((message) => last().sink.message(message)) };
}

test('events are delivered once, and a break resumes with the newest id', async () => {
  const { told, say, last, attempts, timers } = play();
  assert.equal(last().token, 'secret');
  say(opened('5-0'), event('6-0'), event('7-0'), event('6-0'));
  last().sink.closed(1006);
  await timers.pass(500);
  assert.deepEqual(attempts.map(({ id }) => id), [null, '7-0']);
  say(opened('7-0'), event('7-0'), event('8-0'));
  assert.deepEqual(told, [['opened', false], ['event', '6-0'], ['event', '7-0'], ['broken', 500], ['opened', true], ['event', '8-0']]);
});

test('the cursor of a heartbeat counts, and that of a resync even if it is older', async () => {
  const { say, last, attempts, timers, told } = play();
  say(opened('5-0'), { type: 'heartbeat', cursor: '9-0', is_live: false, time_ms: 1 });
  last().sink.closed(1001);
  await timers.pass(0);
  assert.equal(attempts[1].id, '9-0');
  say(opened('9-0'), { type: 'resync', cursor: '3-0' }, event('4-0'));
  assert.deepEqual(told.slice(1), [['heartbeat', false], ['broken', 0], ['opened', true], ['resync'], ['event', '4-0']]);
});

test('pauses grow from half a second to fifteen, and a stream that opens starts anew', async () => {
  const { told, say, last, timers } = play();
  for (let attempt = 0; attempt < 8; attempt++) {
    last().sink.closed(1006);
    await timers.pass(told.at(-1)[1]);
  }
  assert.deepEqual(told.map(([, ms]) => ms), [500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
  say(opened('1-0'));
  last().sink.closed(1013);
  assert.deepEqual(told.at(-1), ['broken', 500]);
});

test('a server that shuts down is tried at once, but not again and again', async () => {
  const { told, say, last, timers } = play();
  say(opened('1-0'));
  last().sink.closed(1001);
  await timers.pass(0);
  last().sink.closed(1001);
  assert.deepEqual(told.slice(1), [['broken', 0], ['broken', 1000]]);
});

test('a refusal is reported, and ends the stream', async () => {
  for (const code of [4400, 4401, 4403, 4404]) {
    const { told, say, last, attempts, timers } = play();
    say({ type: 'error', error: 'UNAUTHORIZED', message: 'no' });
    last().sink.closed(code);
    await timers.pass(600_000);
    assert.deepEqual(told, [['refused', 'UNAUTHORIZED', null], ['broken', null]]);
    assert.equal(attempts.length, 1);
    assert.equal(timers.waiting(), 0);
  }
});

test('a server that asks for a pause gets it', async () => {
  const { told, say, last, attempts, timers } = play();
  say({ type: 'error', error: 'RATE_LIMITED', message: 'no', retry_after: 7 });
  last().sink.closed(1013);
  assert.deepEqual(told, [['refused', 'RATE_LIMITED', 7], ['broken', 7000]]);
  await timers.pass(6999);
  assert.equal(attempts.length, 1);
  await timers.pass(1);
  assert.equal(attempts.length, 2);
});

test('a revoked right is reported', () => {
  const { told, say } = play();
  say(opened('1-0'), { type: 'stream_ended', reason: 'FORBIDDEN', message: 'not any more' }, { type: 'stream_ended', reason: 'SLOW', message: 'slow' });
  assert.deepEqual(told.slice(1), [['refused', 'FORBIDDEN', null]]);
});

test('a stream without a heartbeat for two and a half intervals is broken', async () => {
  const { told, say, attempts, timers } = play();
  say(opened('1-0'));
  await timers.pass(24_000);
  say({ type: 'heartbeat', cursor: '1-0', is_live: true, time_ms: 1 });
  await timers.pass(24_999);
  assert.equal(attempts.length, 1);
  await timers.pass(1);
  assert.equal(attempts[0].isClosed, true);
  assert.deepEqual(told.at(-1), ['broken', 500]);
});

test('a connection that never opens is closed', async () => {
  const { told, attempts, timers } = play();
  await timers.pass(12_000);
  assert.deepEqual(told, [['broken', 500]]);
  assert.equal(attempts[0].isClosed, true);
});

test('the second transport is used where the first does not open twice', async () => {
  const { told, say, last, attempts, timers } = play({ transports: 2 });
  const fail = () => {
    last().sink.closed(1006);
    return timers.pass(told.at(-1)[1]);
  };
  await fail();
  await fail();
  say(opened('1-0'));
  for (let attempt = 0; attempt < 3; attempt++) await fail();
  assert.deepEqual(attempts.map(({ transport }) => transport), [0, 0, 1, 1, 1, 0]);
});

test('the first transport is kept where the server does not answer at all', async () => {
  const { told, last, attempts, timers } = play({ transports: 2, isAnswering: false });
  for (let attempt = 0; attempt < 5; attempt++) {
    last().sink.closed(1006);
    await timers.pass(told.at(-1)[1]);
  }
  assert.deepEqual(attempts.map(({ transport }) => transport), [0, 0, 0, 0, 0, 0]);
});

test('a stream that waits tries at once when it is hurried, and not at all when it is stopped', async () => {
  const { last, attempts, timers, stream } = play();
  stream.hurry();
  assert.equal(attempts.length, 1, 'it is connecting already');
  last().sink.closed(1006);
  stream.hurry();
  assert.equal(attempts.length, 2);
  last().sink.closed(1006);
  stream.stop();
  await timers.pass(60_000);
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
  const told = [];
  const close = socketTransport(/** @type {any} */ (Socket))(URL_OF_EVENTS, 'secret', { message: (message) => told.push(message.type), closed: (code) => told.push(code) });
  assert.equal(socket.url, 'ws://127.0.0.1/api/events?repo_url=r&branch=main');
  socket.onopen();
  assert.deepEqual(socket.sent, ['{"type":"authenticate","token":"secret"}']);
  socket.onmessage({ data: '{"type":"heartbeat"}' });
  socket.onmessage({ data: 'no JSON' });
  socket.onmessage({ data: '{}' });
  close();
  socket.onclose({ code: 1000 });
  socket.onmessage({ data: '{"type":"heartbeat"}' });
  assert.deepEqual(told, ['heartbeat']);
});

/**
 * Reads events from a server by `fetch`.
 * @param {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => void} answer
 * @returns {Promise<any[]>} What was told until the end.
 */
async function readFrom(answer) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  /** @type {any[]} */
  const told = [];
  await new Promise((resolve) => {
    streamTransport(fetch)(new URL(`http://127.0.0.1:${port}/api/events`), 'secret', {
      message: (message) => told.push(message),
      closed: (code) => resolve(told.push(code)),
    });
  });
  server.close();
  return told;
}

test('server-sent events are read however they are cut, with the token in a header', async () => {
  const told = await readFrom((request, response) => {
    assert.equal(request.headers.authorization, 'Bearer secret');
    assert.equal(request.headers.accept, 'text/event-stream');
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const text = ': a comment\n\nid: 1-0\nevent: lock_granted\ndata: {"type":"lock_granted","message":"ü"}\n\ndata: {"type":\ndata: "heartbeat"}\r\n\r\nid: 2-0\ndata: {"type":"late"';
    const bytes = Buffer.from(text);
    const cut = bytes.indexOf('ü') + 1;
    response.write(bytes.subarray(0, cut));
    setTimeout(() => response.end(bytes.subarray(cut)), 20);
  });
  assert.deepEqual(told, [{ type: 'lock_granted', message: 'ü', id: '1-0' }, { type: 'heartbeat' }, 1006]);
});

test('a refused request for server-sent events says the same as a WebSocket', async () => {
  const refused = (/** @type {number} */ status, /** @type {string} */ error, headers = {}) =>
    readFrom((_, response) => response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify({ error, message: 'no' })));
  assert.deepEqual(await refused(401, 'UNAUTHORIZED'), [{ type: 'error', error: 'UNAUTHORIZED', message: 'no', retry_after: undefined }, 4401]);
  assert.deepEqual(await refused(429, 'RATE_LIMITED', { 'Retry-After': '7' }), [{ type: 'error', error: 'RATE_LIMITED', message: 'no', retry_after: 7 }, 1013]);
  assert.deepEqual(await refused(404, 'UNKNOWN_ROUTE'), [1013], 'a server without events is no missing repository');
});
