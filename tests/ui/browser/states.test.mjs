// What the page says about its contents where it is not simply live.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { addressOf, FAILED_REQUEST, lockedFile, openPage, takeScreenshot, waitForHidden, waitForVisible, waitUntil, waitUntilLive } from '../harness/browser.mjs';
import { generatedFiles } from '../harness/repositories.mjs';
import { serveRepository } from '../harness/served_repository.mjs';

/** @param {import('playwright-core').Page} page */
const state = (page) => page.getByRole('region', { name: 'State', exact: true });
/** @param {import('playwright-core').Page} page */
const notices = (page) => page.getByRole('region', { name: 'Notices' });

test('a repository that is not served is called so, with the way to another', async (t) => {
  const { server } = await serveRepository(t);
  const { page } = await openPage(t, addressOf(server, { repoUrl: 'https://github.com/acme/shopp' }), { permits: FAILED_REQUEST });
  await waitForVisible(state(page).getByText('No such repository'));
  await waitForVisible(state(page).getByText(/github\.com\/acme\/shopp, which is not served here/));
  await waitForVisible(page.getByRole('button', { name: /^(No such repository|Not connected)/ }));
  await takeScreenshot(page, 'state-no-repository');
  assert.equal(await page.getByText(/every file is free|No agent holds/).filter({ visible: true }).count(), 0, 'nothing is called free');
  await state(page).getByRole('button', { name: 'Choose another' }).click();
  await page.getByRole('link', { name: /acme\/shop\b/ }).click();
  await waitUntilLive(page);
});

test('a branch that does not exist is called so', async (t) => {
  const { open } = await serveRepository(t);
  const { page } = await open({ branch: 'mian' }, { permits: FAILED_REQUEST });
  await waitForVisible(state(page).getByText('No such branch'));
  await waitForVisible(state(page).getByText(/did you mean main\?/));
  await takeScreenshot(page, 'state-no-branch');
});

test('a branch without files is called empty, and fills by the first push', async (t) => {
  const { repository, agent, open } = await serveRepository(t, { files: {} });
  const { page } = await open();
  await waitForVisible(state(page).getByText('No files'));
  await takeScreenshot(page, 'state-empty');
  repository.commit({ 'src/first.ts': 'export {};\n' });
  await agent('ada').check('src/first.ts');
  await waitForVisible(page.getByRole('img', { name: /^Map of 1 file / }));
  await waitForHidden(state(page).getByText('No files'));
});

test('a graph that is being built shows its progress, then the map appears by itself', async (t) => {
  const { open } = await serveRepository(t, { files: generatedFiles(20_000), name: 'acme/large' });
  const graph = /\/api\/graph\?/;
  /** The first response that has progress is repeated until the page was looked at: a busy browser may take longer than the build. */
  const building = /** @type {{ answer?: Promise<import('playwright-core').APIResponse> }} */ ({});
  /** @param {import('playwright-core').Route} route */
  const untilProgress = async (route) => {
    for (;;) {
      const response = await route.fetch();
      const { state: graphState, progress } = await response.json();
      assert.equal(graphState, 'building', 'the first request begins the build');
      if (progress?.wanted > 0) return response;
    }
  };
  const prepare = (/** @type {import('playwright-core').BrowserContext} */ context) =>
    context.route(graph, async (route) => route.fulfill({ response: await (building.answer ??= untilProgress(route)) }));
  const { page } = await open({}, { prepare });
  await waitForVisible(state(page).getByText(/The import graph is being built/));
  await waitForVisible(state(page).getByRole('progressbar'));
  await takeScreenshot(page, 'state-building');
  await page.context().unroute(graph);
  await page.getByRole('img', { name: /^Map of 20,000 files/ }).waitFor({ timeout: 60_000 });
  await waitForHidden(state(page));
});

test('a graph that is behind the branch is called stale until the next is built', async (t) => {
  const { repository, agent, openLive } = await serveRepository(t, { files: generatedFiles(2000), name: 'acme/middle' });
  const { page } = await openLive();
  await waitForVisible(page.getByRole('img', { name: /^Map of 2,000 files/ }));
  // What the page shows within the second that the build takes.
  const stale = page.getByText('graph stale').waitFor({ state: 'visible' });
  repository.commit({ 'src/added.ts': 'export {};\n' });
  await agent('ada').check('src/added.ts');
  await stale;
  await takeScreenshot(page, 'state-stale');
  await waitForVisible(page.getByRole('img', { name: /^Map of 2,001 files/ }));
  await waitForHidden(page.getByText('graph stale'));
});

test('a failed build is shown with its reason, and the last graph stays', async (t) => {
  const { repository, agent, openLive } = await serveRepository(t, { files: { 'src/one.ts': '', 'src/two.ts': '' } });
  const { page } = await openLive();
  // The folder is lost before the branch moves: the server may build as soon as it has moved.
  const damaged = repository.commit({ 'src/three.ts': '' }, { branch: 'damaged', from: 'main' });
  repository.lose('damaged:src');
  repository.move('main', damaged);
  await agent('ada').check('src/one.ts');
  await waitForVisible(notices(page).getByText('The import graph is out of date'));
  await waitForVisible(notices(page).getByText(/The newest build failed: \w+/));
  await waitForVisible(page.getByRole('img', { name: /^Map of 2 files/ }));
  await takeScreenshot(page, 'state-build-failed');
});

test('a rate-limited page shows when it asks again, and does so', async (t) => {
  const { repository: { repoUrl, head }, server, open } = await serveRepository(t, { env: { COORD_LIMIT_HOLDER_PER_MINUTE: '12' } });
  const checks = Array.from({ length: 8 }, () => fetch(`${server.url}api/check_status`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ repo_url: repoUrl, branch: 'main', file_paths: ['README.md'], agent_head: head() }),
  }));
  assert.ok((await Promise.all(checks)).some(({ status }) => status === 429));
  const { page } = await open({}, { permits: FAILED_REQUEST });
  await waitForVisible(page.getByText('Too many requests').filter({ visible: true }));
  await waitForVisible(page.getByText(/Next attempt in 0:\d\d/).filter({ visible: true }));
  await waitForHidden(page.getByText('every file is free').filter({ visible: true }));
  await takeScreenshot(page, 'state-rate-limited');
  await waitUntil(async () => /27 files/.test((await page.locator('canvas[role=img]').getAttribute('aria-label')) ?? ''), 'the page asks again', 60_000);
});

test('an invalid address of a repository gets the reason', async (t) => {
  const { server } = await serveRepository(t);
  const { page } = await openPage(t, addressOf(server, { repoUrl: 'shop' }), { permits: FAILED_REQUEST });
  await waitForVisible(state(page).getByText('The server cannot read this address'));
  await waitForVisible(state(page).getByText(/repo_url/));
  assert.equal(await lockedFile(page, 'README.md').count(), 0);
});
