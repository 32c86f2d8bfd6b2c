// The server goes away, and comes back.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { agentRow, FAILED_REQUEST, lockedFile, takeScreenshot, waitForHidden, waitForVisible, waitUntil } from '../harness/browser.mjs';
import { serveRepository } from '../harness/served_repository.mjs';

/** The page calls itself offline after 20 seconds without news, at the next attempt to connect. */
const OFFLINE_MS = 45_000;

test('the page reports a killed server, catches up after its restart, marks missed events, and shows none twice', async (t) => {
  const { server, agent, openLive } = await serveRepository(t);
  const { page } = await openLive({}, { permits: FAILED_REQUEST });
  const [ada, bob, cy] = [agent('ada', 'one'), agent('bob', 'two'), agent('cy')];
  await ada.write('src/money.ts', 'Before the break');
  await cy.write('README.md', 'Held all the time');
  await waitForVisible(lockedFile(page, 'src/money.ts'));

  await server.kill();
  await waitForVisible(page.getByRole('button', { name: /^Reconnecting/ }));
  await waitForVisible(lockedFile(page, 'src/money.ts'));
  await waitForVisible(page.getByRole('region', { name: 'Notices' }).getByText(/Last updated \d\d:\d\d:\d\d/));
  await takeScreenshot(page, 'connection-reconnecting');
  await page.getByRole('button', { name: /^Offline/ }).waitFor({ timeout: OFFLINE_MS });
  await waitForVisible(page.getByRole('button', { name: /^Offline.*\d+ s ago/ }));
  await waitForVisible(page.getByRole('region', { name: 'Notices' }).getByText(/Last updated .*\d+ s ago/));
  await waitUntil(async () => /^\(offline/.test(await page.title()), 'the title says it');
  await takeScreenshot(page, 'connection-offline');

  await server.start();
  await bob.write('src/store/db.ts', 'While nobody looked');
  await ada.release('src/money.ts');
  await page.getByRole('button', { name: 'Try again' }).first().click({ timeout: 2000 }).catch(() => 'It has tried by itself.');
  await waitForVisible(page.getByRole('button', { name: /^Live/ }));
  await waitForVisible(lockedFile(page, 'src/store/db.ts'));
  await waitForHidden(lockedFile(page, 'src/money.ts'));
  await waitForVisible(lockedFile(page, 'README.md'));
  await waitForVisible(agentRow(page, 'bob/two'));
  const feed = page.getByRole('region', { name: 'Activity, the newest first' });
  await waitForVisible(feed.getByText(/While you were offline/));
  await bob.write('docs/api.md', 'After the break');
  await waitForVisible(feed.getByText('After the break'));
  await takeScreenshot(page, 'connection-caught-up');
  const texts = await feed.getByRole('listitem').allTextContents();
  const placeOf = (/** @type {string} */ part) => texts.findIndex((text) => text.includes(part));
  const places = ['After the break', 'While you were offline', 'releases', 'While nobody looked', 'Before the break'].map(placeOf);
  assert.deepEqual(places, [...places].sort((a, b) => a - b), `in order: ${texts.join('\n')}`);
  for (const part of ['After the break', 'While nobody looked', 'Held all the time', 'Before the break', 'releases']) {
    assert.equal(texts.filter((text) => text.includes(part)).length, 1, `once: ${part}`);
  }
});

test('the page follows a server that shuts down and starts again', async (t) => {
  const { server, agent, openLive } = await serveRepository(t);
  const { page } = await openLive({}, { permits: FAILED_REQUEST });
  await server.stop();
  await server.start();
  await agent('ada', 'one').write('src/money.ts', 'After the restart');
  await waitForVisible(lockedFile(page, 'src/money.ts'));
  await waitForVisible(page.getByRole('button', { name: /^Live/ }));
});

test('many clients that change much are followed in order, and end as the server has it', async (t) => {
  const { repository, server, agent, openLive } = await serveRepository(t, { env: { COORD_LIMIT_HOLDER_PER_MINUTE: '0' } });
  const { page } = await openLive();
  const files = ['src/money.ts', 'README.md', 'docs/api.md', 'docs/deploy.md', 'package.json', 'styles/shop.css'];
  await Promise.all(files.map(async (file, index) => {
    const holder = agent('ada', `agent-${index}`);
    for (let turn = 0; turn < 8; turn++) {
      await holder.write(file, `Turn ${turn}`);
      if (turn < 7 || index % 2 === 1) await holder.release(file);
    }
  }));
  for (const [index, file] of files.entries()) {
    if (index % 2 === 0) await waitForVisible(lockedFile(page, file));
    else await waitForHidden(lockedFile(page, file));
  }
  const { locks } = await (await fetch(`${server.url}api/locks?repo_url=${repository.repoUrl}`)).json();
  assert.equal(await page.locator('#locked').getByRole('button').count(), locks.length);
});
