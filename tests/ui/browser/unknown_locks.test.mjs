// The page calls a file free only when it knows: not while it reads the locks, cannot read them, or has lost its server.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FAILED_REQUEST, lockedFile, takeScreenshot, waitForHidden, waitForVisible, waitUntil } from '../harness/browser.mjs';
import { serveRepository } from '../harness/served_repository.mjs';

/** @typedef {import('playwright-core').Page} Page */

const FILE = 'src/store/db.ts';
const LOCKS = /\/api\/locks\?/;
const READING = 'Reading the locks.';
const AS_OF = /No locks known; last updated \d\d:\d\d:\d\d\./;
const FREE = /every file is free|Nothing was locked|No agent holds|Free: no locks/;

/** Each place of the page that would say that nothing is locked says this in its place. @param {Page} page @param {string | RegExp} sentence */
async function expectEverywhere(page, sentence) {
  for (const place of ['#locked', '#agents', '#file']) await waitForVisible(page.locator(place).getByText(sentence));
  const label = (await page.locator('canvas[role=img]').getAttribute('aria-label')) ?? '';
  assert.doesNotMatch(label, /\b0 files locked/);
  await page.getByRole('button', { name: 'Table' }).click();
  await waitForVisible(page.locator('#table').getByRole('status').getByText(sentence));
  await page.getByRole('switch').check();
  await waitForVisible(page.locator('#table .empty').getByText(sentence));
  assert.equal(await page.getByText(FREE).filter({ visible: true }).count(), 0);
  await page.getByRole('switch').uncheck();
  await page.getByRole('button', { name: 'Map' }).click();
}

/**
 * The page of a repository in which a file is held, with the file selected.
 * @param {import('node:test').TestContext} t
 * @param {{ args?: string[], answer?: (route: import('playwright-core').Route) => unknown }} options `answer`: to requests for the locks.
 */
async function openWithLock(t, { args, answer }) {
  const { server, agent, openLive } = await serveRepository(t, { args });
  await agent('ada', 'one').write(FILE, 'Moving to a pool of connections');
  const prepare = async (/** @type {import('playwright-core').BrowserContext} */ context) => {
    if (answer) await context.route(LOCKS, (route) => answer(route));
  };
  const { page, sent } = await openLive({ file: FILE }, { permits: FAILED_REQUEST, prepare });
  await waitForVisible(page.locator('#activity').getByText(/claims/));
  return { page, server, countReads: () => sent.filter((request) => LOCKS.test(request.url())).length };
}

/** @param {Page} page @param {RegExp | string} text */
const notice = (page, text) => page.getByRole('region', { name: 'Notices' }).getByText(text);

test('locks that cannot be read are called so, and are read again by themselves', async (t) => {
  const { page, countReads } = await openWithLock(t, { answer: (route) => route.abort() });
  await waitForVisible(notice(page, 'The server does not answer requests for the locks.'));
  await expectEverywhere(page, READING);
  await takeScreenshot(page, 'locks-unread');
  await page.emulateMedia({ colorScheme: 'dark' });
  await takeScreenshot(page, 'locks-unread-dark');
  const before = countReads();
  await waitUntil(() => countReads() > before, 'they are read again');
  await expectEverywhere(page, READING);
  await page.context().unroute(LOCKS);
  await waitForVisible(lockedFile(page, FILE));
  await waitForHidden(page.getByRole('region', { name: 'Notices' }).locator('.notice'));
});

test('while the locks are read, nothing is called free', async (t) => {
  let answer = () => {};
  const answered = new Promise((resolve) => (answer = () => resolve(undefined)));
  const { page } = await openWithLock(t, { answer: (route) => answered.then(() => route.continue()) });
  await expectEverywhere(page, READING);
  await takeScreenshot(page, 'locks-reading');
  answer();
  await waitForVisible(lockedFile(page, FILE));
});

test('a first read that is refused is not called the last one', async (t) => {
  const json = { error: 'RATE_LIMITED', message: 'too many requests by this caller' };
  const { page } = await openWithLock(t, { answer: (route) => route.fulfill({ status: 429, headers: { 'Retry-After': '8' }, json }) });
  await waitForVisible(notice(page, 'Too many requests'));
  await expectEverywhere(page, READING);
  await takeScreenshot(page, 'locks-refused');
  await page.context().unroute(LOCKS);
  await waitForVisible(lockedFile(page, FILE));
});

test('while the activity is read, the page does not say that nothing has happened', async (t) => {
  const { openLive } = await serveRepository(t);
  let answer = () => {};
  const answered = new Promise((resolve) => (answer = () => resolve(undefined)));
  const prepare = (/** @type {import('playwright-core').BrowserContext} */ context) => context.route(/\/api\/activity\?/, (route) => answered.then(() => route.continue()));
  const { page } = await openLive({}, { prepare });
  await waitForVisible(page.getByText('Reading the activity.'));
  assert.equal(await page.getByText(/Nothing has happened|Nothing older/).filter({ visible: true }).count(), 0);
  answer();
  await waitForHidden(page.getByText('Reading the activity.'));
});

test('a page that has lost its server does not say that every file is free', async (t) => {
  const { server, openLive } = await serveRepository(t);
  const { page } = await openLive({ file: FILE }, { permits: FAILED_REQUEST });
  await waitForVisible(page.getByText('Nothing is locked: every file is free.'));
  await waitForVisible(page.getByText('Free: no locks.'));
  await waitForVisible(page.locator('#file').getByText('PROCEED'));
  await server.kill();
  await waitForVisible(notice(page, /[Ll]ast updated \d\d:\d\d:\d\d/));
  await expectEverywhere(page, AS_OF);
  await waitForHidden(page.locator('#file').getByText('PROCEED'));
  await takeScreenshot(page, 'locks-reconnecting');
  await server.start();
  await waitForVisible(page.getByText('Nothing is locked: every file is free.'));
  await waitForVisible(page.getByText('No agent holds a lock.'));
  await waitForVisible(page.getByText('Free: no locks.'));
  await waitForVisible(page.locator('#file').getByText('PROCEED'));
});

test('a lock whose time passes while the server is away leaves no word of a free file', async (t) => {
  const { page, server } = await openWithLock(t, { args: ['--lock-ttl', '8'] });
  await waitForVisible(lockedFile(page, FILE));
  await server.kill();
  await waitForHidden(lockedFile(page, FILE));
  await expectEverywhere(page, AS_OF);
  await takeScreenshot(page, 'locks-expired-offline');
});
