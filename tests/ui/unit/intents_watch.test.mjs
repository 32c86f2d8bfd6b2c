// When the page asks for intents and for the ledger, and when it does not.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { json, openLivePage, pendingRoute, refusal } from './browser.mjs';
import { lockEvent, START } from './events.mjs';
import { intentsBody, ledgerPage, range } from './intents.mjs';

/** @param {Record<string, (url: URL) => any>} [routes] */
const openIntentsPage = (routes) => openLivePage({ routes: { intents: () => json(intentsBody()), ledger: () => json(ledgerPage(range(1, 50))), ...routes } });

/** The same, which shows the ledger. @param {Record<string, (url: URL) => any>} [routes] */
async function openLedgerPage(routes) {
  const page = await openIntentsPage(routes);
  page.model.followLedger(true);
  await page.timers.advance(50);
  return page;
}

let second = 0;
const intentChanged = (/** @type {object} */ rest = {}) => {
  second += 1;
  const time = START + second * 1000;
  return { id: `${time}-0`, type: 'intent_changed', user: 'ada', user_name: 'ada', intent_id: 'ONE', status: 'BLOCKED', previous: 'IN_PROGRESS', time: time / 1000, time_ms: time, ...rest };
};
/** The queries of the requests for the ledger. @param {import('./browser.mjs').Page} page @returns {string[]} */
const ledgerRequests = (page) => page.requests.filter(({ url }) => url.pathname.endsWith('/ledger')).map(({ url }) => [...url.searchParams].filter(([name]) => name !== 'repo_url').map((pair) => pair.join('=')).join(' '));

test('the intents are read once, with their state; the ledger is not, while nobody looks at it', async () => {
  const page = await openIntentsPage();
  assert.equal(page.model.state.intents.phase, 'shown');
  assert.equal(page.paths('/intents'), 1);
  assert.equal(page.requests.find(({ url }) => url.pathname.endsWith('/intents')).url.search, '?repo_url=r&view=state');
  await page.timers.advance(300_000);
  assert.equal(page.paths('/intents'), 1, 'time alone is no reason');
  assert.deepEqual(ledgerRequests(page), []);
});

test('many changes of intents lead to one read, and the first shows at once', async () => {
  const page = await openIntentsPage();
  for (let count = 0; count < 8; count++) page.receive(intentChanged());
  await page.timers.advance(16);
  assert.equal(page.model.state.intents.list[0].status, 'BLOCKED');
  assert.equal(page.paths('/intents'), 1);
  await page.timers.advance(1000);
  assert.equal(page.paths('/intents'), 2);
});

test('claims for an intent lead to one later read of its budget', async () => {
  const page = await openIntentsPage();
  for (let at = 1; at < 9; at++) page.receive(lockEvent('lock_granted', 'bob', ['c'], { at: 1000 + at, intent_id: 'ONE' }));
  await page.timers.advance(5000);
  assert.deepEqual([page.paths('/intents'), page.model.state.intents.owners.get('c')], [1, ['ONE']]);
  await page.timers.advance(10_000);
  assert.equal(page.paths('/intents'), 2);
  page.receive(lockEvent('lock_granted', 'bob', ['c'], { at: 1020 }));
  await page.timers.advance(20_000);
  assert.equal(page.paths('/intents'), 2, 'a claim without an intent costs none anything');
});

test('a server without the routes is asked once, whatever happens', async () => {
  const page = await openIntentsPage({ intents: () => refusal(404, 'UNKNOWN_ROUTE') });
  page.model.followLedger(true);
  page.receive(intentChanged());
  await page.timers.advance(60_000);
  page.closeSocket();
  await page.timers.advance(30_000);
  page.open();
  await page.timers.advance(1000);
  assert.deepEqual([page.model.state.intents.phase, page.paths('/intents'), page.paths('/ledger')], ['none', 1, 0]);
  assert.equal(page.model.state.problem, null, 'it is no problem of the page');
});

test('a repository without intents is not asked again, until an event is about one', async () => {
  const page = await openIntentsPage({ intents: () => json({ intents: [], state: 'REQUEST' }) });
  page.receive(lockEvent('lock_granted', 'bob', ['c'], { at: 1 }));
  await page.timers.advance(60_000);
  assert.deepEqual([page.model.state.intents.phase, page.paths('/intents')], ['none', 1]);
  page.answers.intents = () => json(intentsBody());
  page.receive(intentChanged({ status: 'PENDING', previous: undefined }));
  await page.timers.advance(1000);
  assert.deepEqual([page.model.state.intents.phase, page.paths('/intents')], ['shown', 2]);
});

test('without a credential the page says so, keeps nothing, and asks no more until a person signs in', async () => {
  const page = await openIntentsPage();
  page.answers.intents = () => refusal(401, 'UNAUTHORIZED');
  page.receive(intentChanged());
  await page.timers.advance(1000);
  const { phase, list, message } = page.model.state.intents;
  assert.deepEqual([phase, list, message], ['sign_in', [], 'a sentence']);
  page.receive(intentChanged());
  await page.timers.advance(60_000);
  assert.equal(page.paths('/intents'), 2);
  assert.equal(page.model.state.problem, null, 'all else is shown');
  page.answers.intents = () => json(intentsBody());
  page.model.signIn('secret');
  await page.timers.advance(0);
  page.open();
  await page.timers.advance(50);
  assert.equal(page.model.state.intents.phase, 'shown');
});

test('intents that cannot be read stay shown, with the reason, and are read after Retry-After', async () => {
  const page = await openIntentsPage();
  page.answers.intents = () => refusal(429, 'RATE_LIMITED', { 'Retry-After': '20' });
  page.receive(intentChanged());
  await page.timers.advance(1000);
  assert.deepEqual([page.model.state.intents.phase, page.model.state.intents.message, page.paths('/intents')], ['shown', 'a sentence', 2]);
  page.answers.intents = () => json(intentsBody());
  await page.timers.advance(15_000);
  assert.equal(page.paths('/intents'), 2);
  await page.timers.advance(10_000);
  assert.deepEqual([page.model.state.intents.message, page.paths('/intents')], [null, 3]);
});

test('the intents are read again when the stream is back', async () => {
  const page = await openIntentsPage();
  page.closeSocket();
  await page.timers.advance(5000);
  page.open();
  await page.timers.advance(100);
  assert.equal(page.paths('/intents'), 2);
});

test('a page that is visible again after a while reads its intents anew, if there are some', async () => {
  const page = await openIntentsPage();
  const none = await openIntentsPage({ intents: () => json({ intents: [], state: 'REQUEST' }) });
  for (const each of [page, none]) {
    each.setVisibility('hidden');
    await each.timers.advance(120_000);
    each.setVisibility('visible');
    await each.timers.advance(50);
  }
  assert.deepEqual([page.paths('/intents'), none.paths('/intents')], [2, 1]);
});

test('the ledger is read while it is looked at: the newest lines, then what follows after an event', async () => {
  const page = await openLedgerPage();
  assert.deepEqual(ledgerRequests(page), ['last=50']);
  page.answers.ledger = () => json(ledgerPage([51, 52]));
  for (let count = 0; count < 5; count++) page.receive(intentChanged());
  await page.timers.advance(2000);
  assert.deepEqual(ledgerRequests(page).slice(1), ['after=50 limit=500']);
  assert.deepEqual(page.model.state.ledger.lines.slice(0, 3).map(({ seq }) => seq), [52, 51, 50]);
  page.answers.ledger = () => json(ledgerPage([53]));
  await page.timers.advance(30_000);
  assert.deepEqual(ledgerRequests(page).slice(2), ['after=52 limit=500'], 'what was recorded since is read once more');
  page.model.followLedger(false);
  page.receive(intentChanged());
  await page.timers.advance(20_000);
  assert.equal(ledgerRequests(page).length, 3);
});

test('lines that come in pages are read to their end; too many begin anew', async () => {
  const page = await openLedgerPage();
  page.answers.ledger = (url) => (url.searchParams.get('after') === '50' ? json(ledgerPage(range(51, 60), { sealed: 65, next: 60 })) : json(ledgerPage(range(61, 65))));
  page.receive(intentChanged());
  await page.timers.advance(2000);
  assert.deepEqual(ledgerRequests(page).slice(1), ['after=50 limit=500', 'after=60 limit=500']);
  assert.equal(page.model.state.ledger.newest, 65);
  page.answers.ledger = (url) => (url.searchParams.has('last') ? json(ledgerPage(range(951, 1000))) : json(ledgerPage([Number(url.searchParams.get('after')) + 1], { sealed: 1000, next: Number(url.searchParams.get('after')) + 1 })));
  page.receive(intentChanged());
  await page.timers.advance(2000);
  assert.equal(ledgerRequests(page).at(-1), 'last=50');
  assert.deepEqual([page.model.state.ledger.lines.length, page.model.state.ledger.oldest], [50, 950]);
});

test('a filter is sent, and the answer to another one that is late is not shown', async () => {
  const { waiting, route } = pendingRoute();
  const page = await openLedgerPage({ ledger: route });
  page.model.filterLedger({ intent: 'TWO', file: 'a' });
  await page.timers.advance(50);
  waiting[0](json(ledgerPage(range(1, 50))));
  await page.timers.advance(50);
  assert.deepEqual(page.model.state.ledger.lines, []);
  waiting[1](json(ledgerPage([7], { sealed: 50 })));
  await page.timers.advance(50);
  assert.deepEqual(ledgerRequests(page), ['last=50', 'last=50 intent=TWO file=a']);
  assert.deepEqual(page.model.state.ledger.lines.map(({ seq }) => seq), [7]);
});

test('older lines are read on demand, span by span until some match, and down to the base', async () => {
  const page = await openLedgerPage({ ledger: () => json(ledgerPage([9950], { sealed: 10_000, base: 900 })) });
  page.model.filterLedger({ intent: 'TWO', file: null });
  await page.timers.advance(50);
  page.answers.ledger = (url) => json(ledgerPage(url.searchParams.get('after') === '5949' ? [6000] : [], { sealed: 10_000, base: 900 }));
  await page.model.loadOlderLines();
  assert.deepEqual(ledgerRequests(page).slice(2), ['after=7949 limit=500 intent=TWO', 'after=5949 limit=500 intent=TWO']);
  await page.model.loadOlderLines();
  assert.deepEqual(ledgerRequests(page).slice(4), ['after=3949 limit=500 intent=TWO', 'after=1949 limit=500 intent=TWO', 'after=900 limit=500 intent=TWO']);
  assert.equal(page.model.state.ledger.hasOlder, false);
});

test('lines that come while older ones are read stay', async () => {
  const page = await openLedgerPage({ ledger: () => json(ledgerPage(range(101, 150))) });
  const { waiting, route } = pendingRoute();
  page.answers.ledger = (url) => (url.searchParams.get('after') === '150' ? json(ledgerPage([151])) : route());
  const lengthened = page.model.loadOlderLines();
  page.receive(intentChanged());
  await page.timers.advance(2000);
  assert.equal(page.model.state.ledger.newest, 151);
  waiting[0](json(ledgerPage(range(1, 100), { sealed: 151 })));
  await lengthened;
  const { lines, newest, hasOlder } = page.model.state.ledger;
  assert.deepEqual(lines.map(({ seq }) => seq), range(1, 151).reverse());
  assert.deepEqual([newest, hasOlder], [151, false]);
});

test('older lines are not put below a ledger that has begun anew meanwhile', async () => {
  const page = await openLedgerPage({ ledger: () => json(ledgerPage(range(101, 150))) });
  const { waiting, route } = pendingRoute();
  const after = (/** @type {URL} */ url) => Number(url.searchParams.get('after'));
  page.answers.ledger = (url) => {
    if (url.searchParams.has('last')) return json(ledgerPage(range(951, 1000)));
    if (after(url) >= 150) return json(ledgerPage([after(url) + 1], { sealed: 1000, next: after(url) + 1 }));
    return route();
  };
  const lengthened = page.model.loadOlderLines();
  page.receive(intentChanged());
  await page.timers.advance(2000);
  page.answers.ledger = (url) => json(ledgerPage(range(after(url) + 1, after(url) + 100), { sealed: 1000 }));
  waiting[0](json(ledgerPage(range(1, 100), { sealed: 1000 })));
  await lengthened;
  assert.deepEqual(page.model.state.ledger.lines.map(({ seq }) => seq), range(851, 1000).reverse());
});

test('a ledger that cannot be read says why, and is read again', async () => {
  const page = await openLedgerPage({ ledger: () => refusal(503, 'STORE_UNAVAILABLE', { 'Retry-After': '8' }) });
  assert.equal(page.model.state.ledger.message, 'a sentence');
  page.answers.ledger = () => json(ledgerPage([1]));
  await page.timers.advance(10_000);
  assert.deepEqual([page.model.state.ledger.message, page.model.state.ledger.lines.length], [null, 1]);
});
