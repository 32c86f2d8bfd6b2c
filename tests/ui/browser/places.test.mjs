// The address of the page, and the ways to another.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { agentOf } from '../harness/agents.mjs';
import { addressOf, lockedFile, openPage, queryOf, takeScreenshot, waitForHidden, waitForVisible, waitUntil, waitUntilLive } from '../harness/browser.mjs';
import { makeReadmeShop, makeRepository } from '../harness/repositories.mjs';
import { serveRepository } from '../harness/served_repository.mjs';
import { startServer } from '../harness/server.mjs';

test('without parameters, the page offers what is served, and leads there', async (t) => {
  const shop = makeReadmeShop(t);
  const other = makeRepository(t, { name: 'acme/other' });
  const server = await startServer(t, [shop, other]);
  const { page } = await openPage(t, server.url);
  await waitForVisible(page.getByRole('heading', { name: 'Watch a repository' }));
  const served = page.getByRole('navigation', { name: 'Served here' });
  await waitForVisible(served.getByRole('link', { name: /github\.com\/acme\/other/ }));
  await takeScreenshot(page, 'start');
  await served.getByRole('link', { name: /github\.com\/acme\/shop/ }).click();
  await waitUntilLive(page);
  await waitForVisible(page.getByRole('img', { name: /^Map of 2 files/ }));
  assert.equal(queryOf(page, 'repo_url'), shop.repoUrl);
  await agentOf(server, shop, 'ada', 'one').write('src/db.ts', 'Adding a pool');
  await waitForVisible(lockedFile(page, 'src/db.ts'));
  await takeScreenshot(page, 'map-two-files');

  await page.goBack();
  await waitForVisible(page.getByRole('heading', { name: 'Watch a repository' }));
  await page.reload();
  await page.getByRole('textbox', { name: 'Repository' }).fill(other.repoUrl);
  await page.getByRole('button', { name: 'Open' }).click();
  await waitUntilLive(page);
  assert.equal(queryOf(page, 'branch'), 'main');
});

test('the picker leads to another branch and another repository, and each has its own locks', async (t) => {
  const shop = makeRepository(t);
  shop.commit({ 'src/next.ts': 'export {};\n' }, { branch: 'next' });
  const other = makeRepository(t, { name: 'acme/other' });
  const server = await startServer(t, [shop, other]);
  await agentOf(server, { ...shop, head: () => shop.head('next') }, 'ada', 'one', { branch: 'next' }).write('src/next.ts', 'What comes next');
  const { page } = await openPage(t, addressOf(server, shop));
  await waitUntilLive(page);
  assert.equal(await lockedFile(page, 'src/next.ts').count(), 0);
  const picker = page.getByRole('button', { name: /acme\/shop/ });
  await picker.click();
  await takeScreenshot(page, 'picker');
  await page.getByRole('navigation', { name: 'Branches' }).getByRole('link', { name: 'next' }).click();
  await waitForVisible(lockedFile(page, 'src/next.ts'));
  assert.equal(queryOf(page, 'branch'), 'next');
  await page.getByRole('button', { name: /acme\/shop/ }).click();
  await page.getByRole('navigation', { name: 'Other repositories' }).getByRole('link', { name: /acme\/other/ }).click();
  await waitForVisible(page.getByRole('button', { name: /acme\/other/ }));
  await waitForHidden(lockedFile(page, 'src/next.ts'));
  await waitUntilLive(page);
  await page.goBack();
  await waitForVisible(lockedFile(page, 'src/next.ts'));
});

test('a link opens a file, a view and a filter; back and forward follow what was done', async (t) => {
  const { agent, open } = await serveRepository(t);
  await agent('ada', 'one').write('src/money.ts', 'Rounding to cents');
  const { page } = await open({ file: 'src/auth/login.ts', view: 'table', filter: 'auth' });
  await waitForVisible(page.locator('#file').getByRole('heading', { name: 'login.ts' }));
  await waitForVisible(page.getByRole('region', { name: 'Table of files' }));
  await waitForVisible(page.getByText('3 files of 27'));
  assert.equal(await page.getByRole('combobox', { name: /^Search/ }).inputValue(), 'auth');

  await page.getByRole('button', { name: 'Map', exact: true }).click();
  await waitForVisible(page.getByRole('img', { name: /^Map of 27 files/ }));
  assert.equal(queryOf(page, 'view'), null);
  await lockedFile(page, 'src/money.ts').click();
  await waitForVisible(page.locator('#file').getByRole('heading', { name: 'money.ts' }));
  assert.equal(queryOf(page, 'file'), 'src/money.ts');
  await takeScreenshot(page, 'file-details');
  await page.getByRole('button', { name: 'Close the details' }).click();
  await waitUntil(() => queryOf(page, 'file') === null, 'the address has no file');

  await page.goBack();
  await waitForVisible(page.locator('#file').getByRole('heading', { name: 'money.ts' }));
  await page.goBack();
  await waitForVisible(page.locator('#file').getByRole('heading', { name: 'login.ts' }));
  await page.goBack();
  await waitForVisible(page.getByRole('region', { name: 'Table of files' }));
  await page.goForward();
  await page.goForward();
  await waitForVisible(page.locator('#file').getByRole('heading', { name: 'money.ts' }));
});

test('the details of a file name its imports, importers, lock and history, and what a claim would meet', async (t) => {
  const { agent, openLive } = await serveRepository(t);
  const ada = agent('ada', 'one');
  await ada.write('src/store/db.ts', 'Moving to a pool of connections');
  const { page } = await openLive({ file: 'src/store/db.ts' }, { permissions: ['clipboard-read', 'clipboard-write'] });
  const details = page.locator('#file');
  await waitForVisible(details.getByRole('button', { name: /^src\/store\/pool\.ts/ }));
  await waitForVisible(details.getByRole('button', { name: /^src\/auth\/session\.ts/ }));
  await waitForVisible(details.getByText('Moving to a pool of connections'));
  await waitForVisible(details.getByText('SWITCH_TASK'));
  await waitForVisible(details.getByText(/claims/));
  await details.getByRole('button', { name: 'Copy the path' }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'src/store/db.ts');
  await ada.release('src/store/db.ts');
  await waitForVisible(details.getByText('PROCEED'));
  await waitForVisible(details.getByText('Free: no locks.'));
});
