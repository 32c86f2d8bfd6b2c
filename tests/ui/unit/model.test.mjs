import assert from 'node:assert/strict';
import { test } from 'node:test';

import { titleOf } from '../../../public/app/announce.js';
import { noticesOf, policySentences, statusOf } from '../../../public/app/status_sentences.js';
import { GRAPH, json, openLivePage as livePage, openPage, pendingRoute, rejectFetch } from './browser.mjs';
import { lockEvent, lockView, START } from './events.mjs';

/** @param {ReturnType<typeof openPage>} page */
const holdersByPath = ({ model }) => Object.fromEntries([...model.state.locks].map(([path, held]) => [path, held.map(({ holder }) => holder)]));
/** @param {ReturnType<typeof openPage>} page */
const notices = ({ model }) => noticesOf(model.state, model.now()).map(({ kind, isPage }) => `${kind}${isPage ? ' page' : ''}`);

test('a page reads all, goes live, and notifies once a frame', async () => {
  const page = openPage({ routes: { locks: () => json({ locks: [lockView('ada', 'a')] }) } });
  /** @type {string[][]} */
  const changes = [];
  page.model.subscribe((changed) => changes.push([...changed].sort()));
  await page.timers.advance(16);
  page.open();
  await page.timers.advance(50);
  const { state } = page.model;
  assert.deepEqual([state.connection.phase, state.graphState, state.graph?.files.length], ['live', 'ready', 3]);
  assert.deepEqual(holdersByPath(page), { a: ['ada'] });
  assert.deepEqual([...state.neighbors], [['b', ['a']]]);
  assert.ok(changes.length <= 3 && changes[0].includes('graph'), JSON.stringify(changes));
  assert.equal(titleOf(state, page.model.now()), '(1 writing) r main · Coord');
});

test('an event shows within a frame, without a request', async () => {
  const page = await livePage();
  const before = page.requests.length;
  page.receive(lockEvent('lock_granted', 'ada', ['a'], { at: 1 }));
  await page.timers.advance(16);
  assert.deepEqual(holdersByPath(page), { a: ['ada'] });
  assert.deepEqual(page.model.state.activity.map(({ kind, isCaughtUp }) => [kind, isCaughtUp]), [['lock_granted', false]]);
  assert.equal(page.requests.length, before);
});

test('events that come while a list is read win over the list', async () => {
  const { waiting, route } = pendingRoute();
  const page = openPage({ routes: { locks: route } });
  await page.timers.advance(0);
  page.receive(lockEvent('lock_granted', 'bob', ['b'], { at: 1 }), lockEvent('lock_released', 'ada', ['a'], { at: 2 }));
  await page.timers.advance(16);
  waiting[0](json({ locks: [lockView('ada', 'a')] }));
  await page.timers.advance(16);
  assert.deepEqual(holdersByPath(page), { b: ['bob'] });
});

test('a list that is read after an event wins over the event', async () => {
  const page = openPage();
  await page.timers.advance(0);
  page.receive(lockEvent('lock_granted', 'bob', ['b'], { at: 1 }));
  await page.timers.advance(16);
  assert.deepEqual(holdersByPath(page), { b: ['bob'] });
  page.open();
  await page.timers.advance(16);
  assert.deepEqual(holdersByPath(page), {}, 'the list of a stream that opens says that nothing is locked');
});

test('events that do not name all their files lead to one read of the locks', async () => {
  const page = await livePage({ routes: { locks: () => json({ locks: [lockView('ada', 'a', { at: 1 }), lockView('ada', 'c', { at: 1 })] }) } });
  const before = page.paths('locks');
  for (let at = 1; at < 6; at++) page.receive(lockEvent('lock_renewed', 'ada', ['a'], { at, file_count: 30 }));
  await page.timers.advance(1000);
  assert.equal(page.paths('locks'), before + 1);
  assert.deepEqual(holdersByPath(page), { a: ['ada'], c: ['ada'] });
});

test('a lock ends by the clock of the server, without an event', async () => {
  const page = openPage();
  await page.timers.advance(0);
  // The clock of the server is an hour ahead of ours.
  page.open({ time_ms: START + 3_600_000 });
  await page.timers.advance(50);
  page.receive(lockEvent('lock_granted', 'ada', ['a'], { at: 3600, ttl: 10 }));
  await page.timers.advance(9_900);
  assert.deepEqual(holdersByPath(page), { a: ['ada'] });
  await page.timers.advance(100);
  assert.deepEqual(holdersByPath(page), {});
  assert.deepEqual(page.model.state.agents, []);
});

test('events during a break are caught up and marked', async () => {
  const page = await livePage();
  page.closeSocket();
  await page.timers.advance(10);
  assert.equal(page.model.state.connection.phase, 'reconnecting');
  assert.equal(statusOf(page.model.state, page.model.now()).label, 'Reconnecting');
  await page.timers.advance(1000);
  assert.match(String(page.sockets.at(-1).url), /last_event_id=1-0/);
  page.open({ time_ms: START + 5000 });
  page.receive(lockEvent('lock_granted', 'ada', ['a'], { at: 2 }), lockEvent('lock_granted', 'bob', ['b'], { at: 6 }));
  await page.timers.advance(50);
  assert.deepEqual(page.model.state.activity.map(({ holder, isCaughtUp }) => [holder, isCaughtUp]), [['bob', false], ['ada', true]]);
});

test('a resync reads everything again, and marks events that were not known', async () => {
  const page = await livePage();
  page.receive(lockEvent('lock_granted', 'ada', ['a'], { at: 1 }));
  await page.timers.advance(50);
  page.closeSocket();
  await page.timers.advance(1000);
  const [first, missed] = [lockEvent('lock_granted', 'ada', ['a'], { at: 1 }), lockEvent('lock_granted', 'bob', ['b'], { at: 3 })];
  page.answers.activity = () => json({ events: [missed, first], cursor: missed.id });
  page.answers.locks = () => json({ locks: [lockView('ada', 'a', { at: 1 }), lockView('bob', 'b', { at: 3 })] });
  page.open({ time_ms: START + 5000 });
  page.receive({ type: 'resync', cursor: missed.id });
  await page.timers.advance(50);
  assert.deepEqual(holdersByPath(page), { a: ['ada'], b: ['bob'] });
  assert.deepEqual(page.model.state.activity.map(({ holder, isCaughtUp }) => [holder, isCaughtUp]), [['bob', true], ['ada', false]]);
});

test('a server that cannot be reached is offline after a while, with the time of the last update', async () => {
  const page = await livePage();
  for (const name of ['graph', 'locks', 'activity']) page.answers[name] = rejectFetch;
  page.closeSocket();
  for (let second = 0; second < 60; second++) {
    await page.timers.advance(1000);
    if (!page.sockets.at(-1).isFailed) {
      page.sockets.at(-1).isFailed = true;
      page.closeSocket();
    }
  }
  const { state } = page.model;
  assert.equal(state.connection.phase, 'offline');
  assert.deepEqual(notices(page), ['offline']);
  assert.match(noticesOf(state, page.model.now())[0].text, /1 min ago/);
  assert.match(statusOf(state, page.model.now()).more, /1 min ago/);
});

test('a page that was opened without a network reads all when it is back, and asks little until then', async () => {
  const page = openPage({ routes: { graph: rejectFetch, locks: rejectFetch, activity: rejectFetch } });
  await page.timers.advance(0);
  page.closeSocket();
  await page.timers.advance(60_000);
  assert.ok(page.requests.length < 20, page.requests.map(({ url }) => url.pathname).join(' '));
  assert.deepEqual(notices(page), ['offline page']);
  page.answers.graph = () => json(GRAPH);
  page.answers.locks = () => json({ locks: [lockView('ada', 'a')] });
  page.answers.activity = () => json({ events: [lockEvent('lock_granted', 'ada', ['a'])], cursor: '1-0' });
  page.fire('online');
  page.open();
  await page.timers.advance(50);
  assert.deepEqual([notices(page), holdersByPath(page), page.model.state.activity.length], [[], { a: ['ada'] }, 1]);
});

test('a server that has no events for the page is asked instead', async () => {
  const page = openPage();
  await page.timers.advance(0);
  page.closeSocket(1013);
  await page.timers.advance(600);
  page.answers.locks = () => json({ locks: [lockView('ada', 'a')] });
  page.closeSocket(1013);
  await page.timers.advance(50);
  assert.deepEqual([holdersByPath(page), page.model.state.connection.phase], [{ a: ['ada'] }, 'reconnecting']);
});

test('a network that is back, and a page that is looked at, connect at once', async () => {
  const page = await livePage();
  for (const act of [() => page.fire('online'), () => page.setVisibility('visible')]) {
    page.closeSocket();
    const before = page.sockets.length;
    act();
    assert.equal(page.sockets.length, before + 1);
    page.open();
    await page.timers.advance(50);
  }
});

test('the locks are read again every minute while the page is looked at', async () => {
  const page = await livePage();
  const beat = async () => {
    for (let beats = 0; beats < 12; beats++) {
      page.receive({ type: 'heartbeat', cursor: '1-0', is_live: true, time_ms: page.timers.now() });
      await page.timers.advance(10_000);
    }
  };
  const before = page.paths('locks');
  await beat();
  assert.equal(page.paths('locks'), before + 2);
  page.setVisibility('hidden');
  await beat();
  assert.equal(page.paths('locks'), before + 2);
  page.setVisibility('visible');
  await page.timers.advance(50);
  assert.equal(page.paths('locks'), before + 3);
});

test('a store that is away is late, and the locks are read when it is back', async () => {
  const page = await livePage();
  page.receive({ type: 'heartbeat', cursor: '1-0', is_live: false, time_ms: START });
  await page.timers.advance(50);
  assert.equal(statusOf(page.model.state, START).kind, 'late');
  assert.deepEqual(notices(page), ['late']);
  const before = page.paths('locks');
  page.receive({ type: 'heartbeat', cursor: '1-0', is_live: true, time_ms: START });
  await page.timers.advance(50);
  assert.equal(page.paths('locks'), before + 1);
  assert.deepEqual(notices(page), []);
});

test('a graph that is built shows its progress, and appears when it is ready', async () => {
  const building = { ...GRAPH, nodes: [], edges: [], version: null, state: 'building', progress: { files: 9, wanted: 8, scanned: 2 } };
  const page = openPage({ routes: { graph: () => json(building, 202) } });
  await page.timers.advance(0);
  page.open();
  await page.timers.advance(50);
  assert.deepEqual(notices(page), ['building page']);
  page.receive({ type: 'graph_progress', branch: 'main', version: 'abcdef0', files: 9, wanted: 8, scanned: 6, time: 1 });
  await page.timers.advance(50);
  assert.deepEqual(noticesOf(page.model.state, START)[0].progress, { value: 6, max: 8 });
  page.answers.graph = () => json(GRAPH);
  page.receive({ type: 'graph_update', id: '2-0', branch: 'main', version: 'abcdef0', time: 1 });
  await page.timers.advance(300);
  assert.deepEqual([page.model.state.graphState, notices(page)], ['ready', []]);
});

test('a graph whose build has met a bound says which, and names the first files', async () => {
  const page = await livePage();
  const bounds = [{ bound: 'file_imports', files: 24, first: ['a', 'b'] }];
  page.answers.graph = () => json({ ...GRAPH, version: 'abcdef1', bounds });
  page.receive({ type: 'graph_update', id: '2-0', branch: 'main', version: 'abcdef1', time: 1 });
  await page.timers.advance(300);
  assert.deepEqual(notices(page), ['bounds']);
  assert.equal(noticesOf(page.model.state, START)[0].text, 'Imports are missing for 24 files (file_imports: a, b, ...).');
});

test('a head that moves makes the graph stale, until the graph of that head is read', async () => {
  const page = await livePage();
  page.answers.graph = () => json({ ...GRAPH, state: 'stale' });
  page.receive({ type: 'head_moved', id: '2-0', branch: 'main', head: '1234567', time: 1 });
  await page.timers.advance(50);
  assert.equal(page.model.state.graphState, 'stale');
  await page.timers.advance(300);
  page.answers.graph = (_, { headers }) => (headers['If-None-Match'] === 'two' ? new Response(null, { status: 304 }) : json({ ...GRAPH, version: '1234567' }, 200, { ETag: 'two' }));
  page.receive({ type: 'graph_update', id: '3-0', branch: 'main', version: '1234567', time: 1 });
  await page.timers.advance(300);
  const { graph, graphState } = page.model.state;
  assert.deepEqual([graph?.version, graphState], ['1234567', 'ready']);
  page.receive({ type: 'graph_update', id: '4-0', branch: 'main', version: '1234567', time: 1 });
  await page.timers.advance(300);
  assert.equal(page.model.state.graph, graph, 'a graph that has not changed is the same object');
});

test('every refusal is a sentence of the server with a next step', async () => {
  /** @type {[number, string, Record<string, string>, string, string][]} */
  const cases = [
    [404, 'UNKNOWN_REPOSITORY', {}, 'no_repository page', 'ended'],
    [404, 'UNKNOWN_BRANCH', {}, 'no_branch page', 'ended'],
    [401, 'UNAUTHORIZED', {}, 'sign_in page', 'ended'],
    [403, 'FORBIDDEN_REPOSITORY', {}, 'forbidden page', 'ended'],
    [400, 'INVALID_FIELD', {}, 'invalid page', 'ended'],
    [503, 'STORE_UNAVAILABLE', {}, 'misconfigured page', 'ended'],
    [503, 'SOURCE_UNAVAILABLE', { 'Retry-After': '7' }, 'unavailable page', 'live'],
    [500, 'INTERNAL', {}, 'unavailable page', 'live'],
    [429, 'RATE_LIMITED', { 'Retry-After': '7' }, 'rate_limited page', 'live'],
  ];
  for (const [status, error, headers, kind, phase] of cases) {
    const page = openPage({ routes: { graph: () => json({ error, message: `the sentence of ${error}` }, status, headers) } });
    page.open();
    await page.timers.advance(50);
    const [notice] = noticesOf(page.model.state, page.model.now());
    assert.deepEqual([notices(page), page.model.state.connection.phase], [[kind], phase], error);
    assert.equal(notice.text, `The sentence of ${error}.`);
    assert.ok(notice.next && notice.action, error);
    page.answers.graph = () => json(GRAPH);
    await page.timers.advance(phase === 'live' ? 10_500 : 0);
    if (phase === 'ended') page.model.retry();
    await page.timers.advance(50);
    assert.deepEqual(notices(page), [], `${error} is over`);
    assert.equal(page.model.state.graph?.files.length, 3);
  }
});

test('a refused stream ends the page as a refused request does', async () => {
  const page = await livePage();
  page.closeSocket(1013);
  await page.timers.advance(1000);
  page.receive({ type: 'error', error: 'FORBIDDEN_REPOSITORY', message: 'not any more' });
  page.closeSocket(4403);
  await page.timers.advance(50);
  assert.deepEqual(notices(page), ['forbidden page']);
});

test('a token is sent to our origin alone, in headers and the first message, and never in an address', async () => {
  const page = openPage({ routes: { graph: (_, { headers }) => (headers.Authorization ? json(GRAPH) : json({ error: 'UNAUTHORIZED', message: 'send a token' }, 401)) } });
  await page.timers.advance(50);
  assert.deepEqual([notices(page), page.model.state.needsToken, page.model.state.isSignedIn], [['sign_in page'], true, false]);
  page.model.signIn('s3cret');
  await page.timers.advance(0);
  page.sockets.at(-1).onopen();
  page.open();
  await page.timers.advance(50);
  assert.deepEqual(notices(page), []);
  assert.equal(page.model.state.isSignedIn, true);
  assert.deepEqual(page.sockets.at(-1).sent, ['{"type":"authenticate","token":"s3cret"}']);
  assert.deepEqual([...page.stored.values()], ['s3cret']);
  for (const { url, headers, redirect } of page.requests.slice(-3)) {
    assert.deepEqual([url.origin, headers.Authorization, redirect], ['http://127.0.0.1:3000', 'Bearer s3cret', 'error']);
  }
  const addresses = [...page.requests.map(({ url }) => url.href), ...page.sockets.map(({ url }) => url.href), ...page.entries];
  assert.deepEqual(addresses.filter((address) => address.includes('s3cret')), []);
  page.model.signOut();
  await page.timers.advance(50);
  assert.deepEqual([page.stored.size, notices(page)], [0, ['sign_in page']]);
});

test('a wrong token says so', async () => {
  const page = openPage({ routes: { graph: () => json({ error: 'UNAUTHORIZED', message: 'this token is not known' }, 401) } });
  page.model.signIn('wrong');
  await page.timers.advance(50);
  const [notice] = noticesOf(page.model.state, START);
  assert.deepEqual([notice.title, notice.text, notice.action], ['The token was not accepted', 'This token is not known.', 'sign_in']);
});

test('places are entries of the history; another branch is read anew, and another file is not', async () => {
  const page = await livePage({ routes: { locks: () => json({ locks: [lockView('ada', 'a')] }) } });
  const { model } = page;
  const { graph } = model.state;
  const before = page.requests.length;
  model.go({ file: 'a' });
  model.go({ filter: 'x' }, true);
  await page.timers.advance(50);
  assert.deepEqual(page.entries, ['?repo_url=r&branch=main', '?repo_url=r&branch=main&file=a&filter=x']);
  assert.deepEqual([model.state.graph, page.requests.length], [graph, before]);
  page.navigate('?repo_url=r&branch=main');
  assert.equal(model.state.place.file, null);
  assert.equal(model.state.graph, graph);

  const socket = page.sockets.at(-1);
  model.go({ branch: 'next' });
  assert.deepEqual([model.state.graph, model.state.locks.size, socket.isClosed], [null, 0, true]);
  await page.timers.advance(50);
  assert.match(String(page.sockets.at(-1).url), /branch=next/);
  page.navigate('/');
  assert.deepEqual([model.state.place.repoUrl, model.state.connection.phase], [null, 'connecting']);
  const [requests, waiting] = [page.requests.length, page.timers.waiting()];
  await page.timers.advance(300_000);
  assert.equal(page.requests.length, requests, 'a page without a repository asks for nothing');
  assert.ok(waiting <= 1);
});

test('a late response for another branch is dropped', async () => {
  const { waiting, route } = pendingRoute();
  const page = openPage({ routes: { graph: (url) => (url.searchParams.get('branch') === 'main' ? route() : json({ ...GRAPH, version: 'next000' })) } });
  await page.timers.advance(0);
  page.model.go({ branch: 'next' });
  await page.timers.advance(50);
  waiting[0](json(GRAPH));
  await page.timers.advance(50);
  assert.equal(page.model.state.graph?.version, 'next000');
});

test('older events are loaded until there are none', async () => {
  const at = (/** @type {number} */ second) => lockEvent('lock_granted', 'ada', ['a'], { at: second });
  const page = await livePage({
    routes: {
      activity: (url) => {
        const before = url.searchParams.get('before');
        if (before === null) return json({ events: [at(9), at(8)], cursor: at(9).id, earlier: at(8).id });
        // Between these there are events of another branch alone.
        if (before === at(8).id) return json({ events: [], cursor: before, earlier: at(5).id });
        if (before === at(5).id) return json({ events: [at(4)], cursor: before, earlier: at(4).id });
        return json({ events: [], cursor: before });
      },
    },
  });
  assert.equal(page.model.state.hasOlder, true);
  await page.model.loadOlder();
  assert.deepEqual([page.model.state.activity.length, page.model.state.hasOlder], [3, true]);
  await page.model.loadOlder();
  assert.deepEqual([page.model.state.activity.length, page.model.state.hasOlder], [3, false]);
});

test('older events are known of also where live ones came before the first read', async () => {
  const at = (/** @type {number} */ second) => lockEvent('lock_granted', 'ada', ['a'], { at: second });
  const page = openPage({ routes: { activity: () => json({ error: 'STORE_UNAVAILABLE', message: 'the store is away' }, 503, { 'Retry-After': '1' }) } });
  await page.timers.advance(16);
  page.open();
  page.receive(at(10));
  await page.timers.advance(50);
  assert.deepEqual([page.model.state.activity.length, page.model.state.isActivityRead], [1, false]);
  page.answers.activity = () => json({ events: [at(10), at(9)], cursor: at(10).id, earlier: at(9).id });
  await page.timers.advance(20_000);
  assert.deepEqual([page.model.state.activity.length, page.model.state.hasOlder], [2, true]);
});

test('a check asks about the newest head, and a server that cannot say is offline', async () => {
  /** @type {any} */
  let request;
  const page = await livePage({
    routes: {
      check_status: (_, { body }) => {
        request = JSON.parse(body);
        return json({ status: 'CONFLICT', orchestration: { action: 'WAIT', reason: 'ada holds a' }, warnings: [], locks: {} });
      },
    },
  });
  assert.deepEqual(await page.model.check('a'), { status: 'CONFLICT', command: 'WAIT', reason: 'ada holds a', warnings: [] });
  assert.deepEqual(request, { repo_url: 'r', branch: 'main', file_paths: ['a'], agent_head: 'abcdef0' });
  page.receive({ type: 'head_moved', id: '2-0', branch: 'main', head: '1234567', time: 1 });
  await page.timers.advance(50);
  await page.model.check('a');
  assert.equal(request.agent_head, '1234567');
  page.answers.check_status = () => json({ error: 'STORE_UNAVAILABLE', message: 'the store is away' }, 503, { 'Retry-After': '1' });
  assert.deepEqual(await page.model.check('a'), { status: 'OFFLINE', command: 'STOP', reason: 'the store is away', warnings: [] });
});

test('an hour of events leaves no more than is kept, and no more timers', async () => {
  const page = await livePage();
  const waiting = page.timers.waiting();
  for (let second = 0; second < 3600; second++) {
    page.receive(lockEvent(second % 2 ? 'lock_released' : 'lock_granted', `user${second % 700 >> 1}`, [`f${second % 300}`], { at: second }));
    if (second % 10 === 0) await page.timers.advance(10_000);
  }
  await page.timers.advance(100);
  assert.equal(page.model.state.activity.length, 1000);
  assert.equal(page.model.state.hasOlder, false);
  assert.ok(page.timers.waiting() <= waiting + 2, `${page.timers.waiting()} timers`);
});

test('the rules of a branch are sentences, and a problem of theirs is a notice', async () => {
  assert.deepEqual(policySentences(null), ['The rules have not been read yet.']);
  const byDefault = policySentences({ ttl_seconds: 300, neighbors: 'block' });
  assert.equal(byDefault[0], 'A lock lasts 300 s unless it is renewed.');
  assert.match(byDefault[2], /lockfiles/);
  const own = policySentences({ ttl_seconds: 60, neighbors: 'off', shared: [], ignore: ['dist/', 'gen/**'], problem: '.coord.toml:1:1: unknown key "x"' });
  assert.deepEqual(own.slice(1), [
    'Neighbors are not checked.',
    'No files are shared.',
    'Without locks: dist/, gen/**.',
    'The newest rules file is invalid, so the last valid one applies: .coord.toml:1:1: unknown key "x".',
  ]);
  const page = await livePage();
  page.answers.graph = () => json({ ...GRAPH, policy: { ttl_seconds: 300, neighbors: 'block', problem: '.coord.toml:1:1: wrong' } });
  page.receive({ type: 'graph_update', id: '2-0', branch: 'main', version: 'abcdef0', time: 1 });
  await page.timers.advance(300);
  assert.deepEqual(notices(page), ['policy']);
});

test('a page asks for the graph once, however the answer and the stream meet', async () => {
  const { waiting, route } = pendingRoute();
  const page = openPage({ routes: { graph: route } });
  await page.timers.advance(20);
  page.open();
  await page.timers.advance(100);
  waiting[0](json(GRAPH, 200, { ETag: 'one' }));
  await page.timers.advance(2000);
  assert.equal(page.paths('graph'), 1);
  assert.equal(page.model.state.graph?.files.length, 3);
});
