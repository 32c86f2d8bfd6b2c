// The feed: messages, filters, a reader who has scrolled, and the log behind it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { takeScreenshot, waitForHidden, waitForVisible, waitUntil } from '../harness/browser.mjs';
import { serveRepository } from '../harness/served_repository.mjs';

/** @typedef {import('playwright-core').Page} Page */

const UNLIMITED = { env: { COORD_LIMIT_HOLDER_PER_MINUTE: '0' } };
/** @param {Page} page */
const feed = (page) => page.getByRole('region', { name: 'Activity, the newest first' });
/** @param {Page} page */
const entries = (page) => feed(page).getByRole('listitem');

test('the feed has every message, the newest first, with relative and absolute times', async (t) => {
  const { agent, openLive } = await serveRepository(t, UNLIMITED);
  const { page } = await openLive();
  await agent('ada', 'one').write('src/money.ts', 'First message');
  await agent('ada', 'one').write('src/money.ts', 'Second message');
  await agent('bob').read('README.md', 'Third message');
  await agent('ada', 'one').release('src/money.ts');
  await waitForVisible(feed(page).getByText('Third message'));
  await waitForVisible(feed(page).getByText('releases 1 file'));
  const texts = await entries(page).allTextContents();
  const places = ['releases', 'Third message', 'Second message', 'First message'].map((part) => texts.findIndex((text) => text.includes(part)));
  assert.deepEqual(places, [...places].sort((a, b) => a - b), `in order: ${texts}`);
  assert.ok(!places.includes(-1));
  await waitForVisible(feed(page).getByText('just now').first());
  await page.getByRole('button', { name: 'Show the time of day' }).click();
  await waitForVisible(feed(page).getByText(/^\d\d:\d\d:\d\d$/).first());
});

test('the feed is filtered by agent, by folder and by kind', async (t) => {
  const { agent, openLive } = await serveRepository(t, UNLIMITED);
  const { page } = await openLive();
  await agent('ada', 'one').write('src/money.ts', 'Rounding to cents');
  await agent('bob', 'two').write('docs/api.md', 'Explaining the limits');
  await agent('cy').write('docs/api.md', 'Explaining the errors');
  await waitForVisible(feed(page).getByText('Explaining the errors'));
  const [money, limits, errors] = ['Rounding to cents', 'Explaining the limits', 'Explaining the errors'].map((text) => feed(page).getByText(text));

  const [byAgent, byFolder, byKind] = ['Agent', 'Folder', 'Kind'].map((name) => page.getByRole('combobox', { name, exact: true }));
  await byAgent.selectOption('bob/two');
  await waitForHidden(money);
  await waitForHidden(errors);
  await waitForVisible(limits);
  await takeScreenshot(page, 'activity-filtered');
  await byAgent.selectOption('');

  await byFolder.selectOption('docs/');
  await waitForHidden(money);
  await waitForVisible(errors);
  await byFolder.selectOption('');

  await byKind.selectOption({ label: 'Refusals' });
  await waitForHidden(limits);
  await waitForVisible(errors);
  await byKind.selectOption({ label: 'Expiries' });
  await waitForVisible(page.getByText('Nothing matches the filter.'));
});

test('the feed holds still while it is scrolled, counts what is new, and goes on at the top', async (t) => {
  const { agent, openLive } = await serveRepository(t, UNLIMITED);
  const ada = agent('ada', 'one');
  for (let number = 0; number < 30; number++) await ada.write('src/money.ts', `Message ${number}`);
  const { page } = await openLive();
  await waitForVisible(feed(page).getByText('Message 29'));
  await feed(page).evaluate((scroller) => new Promise((resolve) => {
    scroller.addEventListener('scroll', resolve, { once: true });
    scroller.scrollTop = 300;
  }));
  const first = async () => /Message \d+/.exec((await entries(page).first().textContent()) ?? '')?.[0];
  const before = await first();
  await ada.write('src/money.ts', 'While you read');
  await ada.write('src/money.ts', 'While you still read');
  const fresh = page.getByRole('button', { name: '2 new' });
  await waitForVisible(fresh);
  assert.equal(await first(), before ?? 'a message', 'nothing moves under the reader');
  await takeScreenshot(page, 'activity-scrolled');
  await fresh.click();
  await waitForVisible(feed(page).getByText('While you still read'));
  assert.equal(await feed(page).evaluate((scroller) => scroller.scrollTop), 0);

  await page.getByRole('button', { name: 'Pause the activity' }).click();
  await ada.write('src/money.ts', 'While it pauses');
  await waitForVisible(page.getByRole('button', { name: '1 new' }));
  assert.equal(await feed(page).getByText('While it pauses').count(), 0);
});

test('far history is loaded from the log, to its beginning, and nothing twice', async (t) => {
  const { agent, openLive } = await serveRepository(t, UNLIMITED);
  const holders = Array.from({ length: 4 }, (_, index) => agent('ada', `agent-${index}`));
  await Promise.all(holders.map(async (holder, index) => {
    for (let number = 0; number < 30; number++) await holder.write(`src/file${index}.ts`, `Message ${index} ${number}.`);
  }));
  const { page } = await openLive();
  await waitUntil(async () => (await entries(page).count()) >= 90, 'the newest hundred are there');
  assert.equal(await feed(page).getByText('Message 0 0.', { exact: true }).count(), 0);
  await waitUntil(async () => {
    await feed(page).evaluate((scroller) => (scroller.scrollTop = scroller.scrollHeight));
    return page.getByText('Nothing older to show.').isVisible();
  }, 'the log begins', 60_000);
  for (const index of holders.keys()) await waitForVisible(feed(page).getByText(`Message ${index} 0.`, { exact: true }));
  const texts = await feed(page).getByText(/^Message \d \d+\.$/).allTextContents();
  assert.equal(texts.length, 120);
  assert.equal(new Set(texts).size, 120);
});
