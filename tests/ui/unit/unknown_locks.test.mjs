// The page calls files free only while it knows all locks.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lockKnowledge } from '../../../public/app/lock_knowledge.js';
import { noLocksSentence, noticesOf } from '../../../public/app/status_sentences.js';
import { mapSummary } from '../../../public/map/descriptions.js';
import { json, openLivePage as livePage, pendingRoute, refusal, rejectFetch } from './browser.mjs';
import { lockEvent, lockView, START } from './events.mjs';

/** @typedef {import('./browser.mjs').Page} Page */

/** @param {Page} page */
const knowledgeOf = ({ model }) => lockKnowledge(model.state);
/** @param {Page} page */
const noticesOfPage = ({ model }) => noticesOf(model.state, model.now()).map(({ kind, text }) => [kind, text]);

test('a file is called free only by a list that is read, while events arrive and nothing is wrong', () => {
  const problem = { kind: /** @type {const} */ ('rate_limited'), message: 'too many requests', retryAt: START };
  /** @type {[string, object, string][]} */
  const cases = [
    ['live', {}, 'known'],
    ['live', { locksReadAt: null }, 'reading'],
    ['live', { locksReadAt: null, problem }, 'reading'],
    ['live', { areLocksMissed: true }, 'reading'],
    ['live', { areLocksMissed: true, problem }, 'old'],
    ['live', { problem }, 'old'],
    ['late', {}, 'old'],
    ['late', { locksReadAt: null }, 'reading'],
    ['connecting', {}, 'reading'],
    ['connecting', { problem }, 'old'],
    ['reconnecting', {}, 'old'],
    ['reconnecting', { locksReadAt: null }, 'reading'],
    ['offline', {}, 'old'],
    ['ended', {}, 'old'],
    ['ended', { locksReadAt: null, shownAt: null }, 'old'],
  ];
  const sentences = {
    known: /^free$/,
    reading: /^Reading the locks\.$/,
    old: /^No locks known; last updated \d\d:\d\d:\d\d\.$|^The locks have not been read yet\.$/,
  };
  for (const [name, change, expected] of cases) {
    const phase = name === 'late' ? 'live' : /** @type {any} */ (name);
    const connection = { phase, isLate: name === 'late', since: START, lastMessageAt: START, retryAt: null };
    const state = { connection, problem: null, locksReadAt: START, areLocksMissed: false, shownAt: START, ...change };
    assert.equal(lockKnowledge(state), expected, `${name} ${JSON.stringify(change)}`);
    assert.match(noLocksSentence(state, START, 'free'), sentences[/** @type {'known'} */ (expected)]);
  }
});

test('until the first list has come, no lock is known, whatever else arrives', async () => {
  const { waiting, route } = pendingRoute();
  const page = await livePage({ routes: { locks: route } });
  assert.deepEqual([knowledgeOf(page), page.model.state.shownAt], ['reading', null]);
  assert.equal(mapSummary(page.model.state, START), 'Map of 3 files by folder. Reading the locks.');
  page.receive({ type: 'heartbeat', cursor: '1-0', is_live: true, time_ms: START });
  await page.timers.advance(50);
  assert.deepEqual([knowledgeOf(page), page.model.state.shownAt], ['reading', null]);
  // It was asked for before the stream was open: what happened between is in the next one alone.
  waiting[0](json({ locks: [] }));
  await page.timers.advance(50);
  assert.equal(knowledgeOf(page), 'reading');
  waiting[1](json({ locks: [] }));
  await page.timers.advance(50);
  assert.deepEqual([knowledgeOf(page), waiting.length], ['known', 2]);
  assert.match(mapSummary(page.model.state, START), /0 files locked/);
});

test('locks whose requests are not answered are a problem, and are asked for again with growing pauses', async () => {
  const page = await livePage({ routes: { locks: rejectFetch } });
  assert.equal(knowledgeOf(page), 'reading');
  assert.deepEqual(noticesOfPage(page), [['unavailable', 'The server does not answer requests for the locks.']]);
  const at = /** @type {number[]} */ ([]);
  let before = page.paths('locks');
  for (let second = 0; second < 200; second++) {
    await page.timers.advance(1000);
    if (second % 10 === 0) page.receive({ type: 'heartbeat', cursor: '1-0', is_live: true, time_ms: page.timers.now() });
    if (page.paths('locks') > before) at.push(second);
    before = page.paths('locks');
  }
  const pauses = at.slice(1).map((second, index) => second - at[index]);
  assert.deepEqual([pauses.slice(0, 4), pauses.at(-1)], [[4, 8, 16, 32], 60]);
  page.answers.locks = () => json({ locks: [lockView('ada', 'a', { ttl: 900 })] });
  page.model.retry();
  await page.timers.advance(50);
  assert.deepEqual([knowledgeOf(page), noticesOfPage(page), [...page.model.state.locks.keys()]], ['known', [], ['a']]);
});

test('a request that is lost with the connection is no problem of its own', async () => {
  const page = await livePage();
  page.answers.locks = rejectFetch;
  page.receive(lockEvent('lock_granted', 'ada', ['a'], { at: 1, file_count: 30 }));
  await page.timers.advance(300);
  assert.deepEqual(noticesOfPage(page).map(([kind]) => kind), ['unavailable']);
  page.closeSocket();
  await page.timers.advance(50);
  assert.deepEqual(noticesOfPage(page), []);
  assert.equal(knowledgeOf(page), 'old');
});

test('a refusal of the first read leaves the locks unread', async () => {
  const page = await livePage({ routes: { locks: () => refusal(429, 'RATE_LIMITED', { 'Retry-After': '7' }) } });
  assert.equal(knowledgeOf(page), 'reading');
  page.answers.locks = () => json({ locks: [] });
  await page.timers.advance(7050);
  assert.equal(knowledgeOf(page), 'known');
});

test('after a gap in the events, no file is called free until the locks are read', async () => {
  /** @type {[string, (page: Page) => unknown][]} */
  const gaps = [
    ['a break', (page) => (page.closeSocket(), page.fire('online'), page.open())],
    ['a log that lacks events', (page) => page.receive({ type: 'resync', cursor: '2-0' })],
    ['a store that was away', (page) => [false, true].map((is_live) => page.receive({ type: 'heartbeat', cursor: '1-0', is_live, time_ms: START }))],
    ['an event that does not name all files', (page) => page.receive(lockEvent('lock_released', 'ada', ['a'], { at: 1, file_count: 30 }))],
  ];
  for (const [name, happen] of gaps) {
    const page = await livePage();
    assert.equal(knowledgeOf(page), 'known');
    const { waiting, route } = pendingRoute();
    page.answers.locks = route;
    await page.timers.advance(3000);
    const { shownAt } = page.model.state;
    happen(page);
    await page.timers.advance(300);
    page.receive({ type: 'heartbeat', cursor: '2-0', is_live: true, time_ms: page.timers.now() });
    await page.timers.advance(50);
    assert.deepEqual([knowledgeOf(page), page.model.state.shownAt], ['reading', shownAt], name);
    waiting[0](json({ locks: [] }));
    await page.timers.advance(50);
    assert.equal(knowledgeOf(page), 'known', name);
  }
});

test('a lock that ends by the clock of a page without its server leaves no free file', async () => {
  const page = await livePage({ routes: { locks: () => json({ locks: [lockView('ada', 'a', { ttl: 20 })] }) } });
  for (const name of ['graph', 'locks', 'activity']) page.answers[name] = rejectFetch;
  const { shownAt } = page.model.state;
  page.closeSocket();
  await page.timers.advance(35_000);
  assert.deepEqual([page.model.state.locks.size, knowledgeOf(page), page.model.state.shownAt], [0, 'old', shownAt]);
});

test('a stream that is late says how old the locks are', async () => {
  const page = await livePage();
  page.receive({ type: 'heartbeat', cursor: '1-0', is_live: false, time_ms: START });
  await page.timers.advance(50);
  assert.match(noLocksSentence(page.model.state, page.model.now()), /^No locks known; last updated /);
});
