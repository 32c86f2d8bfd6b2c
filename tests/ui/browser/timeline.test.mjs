// The time view, and the view of all repositories.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { agentOf } from '../harness/agents.mjs';
import { openPage, takeScreenshot, waitForVisible, waitUntil, waitUntilLive } from '../harness/browser.mjs';
import { makeRepository } from '../harness/repositories.mjs';
import { serveRepository } from '../harness/served_repository.mjs';
import { startServer } from '../harness/server.mjs';

test('the time view has a lane for each agent, and the figures of the time', async (t) => {
  const { repository, agent, openLive } = await serveRepository(t);
  const [dan, kim] = [agent('ada', 'dan'), agent('ada', 'kim')];
  await dan.write('src/money.ts', 'Rounding to cents');
  await kim.write('src/money.ts', 'Adding a currency');
  const { page } = await openLive();
  await page.locator('#views').getByRole('button', { name: 'Time' }).click();
  const view = page.getByRole('region', { name: 'Time', exact: true });
  await waitForVisible(view.getByRole('img', { name: /^dan: held files for \d+ s, waited 0 s, refused 0 times, pushed 0 times$/ }));
  await waitForVisible(view.getByRole('img', { name: /^kim: held files for 0 s, waited \d+ s, refused 1 time, pushed 0 times$/ }));
  const new_repo_head = repository.commit({ 'src/money.ts': 'export const cents = 1;\n' });
  assert.equal((await dan.release('src/money.ts', { abandon: false, new_repo_head, agent_head: new_repo_head })).status, 200);
  await kim.write('src/money.ts', 'Adding a currency');
  await waitForVisible(view.getByRole('img', { name: /^dan: .* pushed 1 time$/ }));
  await waitForVisible(view.getByRole('img', { name: /^kim: held files/ }));
  const figure = (/** @type {string} */ name) => view.locator('.figures div').filter({ hasText: name }).locator('dd');
  await waitUntil(async () => (await figure('Conflicts avoided').textContent()) === '1', 'a conflict was avoided');
  assert.equal(await figure('Refused claims').textContent(), '1');
  assert.equal(await figure('Pushes').textContent(), '1');
  await takeScreenshot(page, 'time');
  await view.getByRole('button', { name: 'kim' }).click();
  await waitUntil(() => page.url().includes('agent=ada/kim') && page.url().includes('view=time'), 'the agent is selected');
  await page.reload();
  await waitForVisible(view.locator('[aria-current]').getByText('kim'));
});

test('all repositories of the server are in one view, with who works and who is blocked', async (t) => {
  const shop = makeRepository(t);
  const other = makeRepository(t, { name: 'acme/other' });
  const server = await startServer(t, [shop, other]);
  await agentOf(server, shop, 'ada', 'dan').write('src/money.ts', 'Rounding to cents');
  await agentOf(server, shop, 'ada', 'kim').write('src/money.ts', 'Adding a currency');
  const { page } = await openPage(t, server.url);
  const row = (/** @type {RegExp} */ name) => page.getByRole('navigation', { name: 'Served here' }).getByRole('link', { name });
  await waitForVisible(row(/acme\/shop.*2 agents.*1 locked.*1 blocked.*is refused 1 file/));
  await waitForVisible(row(/acme\/other.*nobody at work/));
  await takeScreenshot(page, 'all-repositories');
  await agentOf(server, other, 'bob', 'two').write('README.md', 'How to begin');
  await row(/acme\/other.*1 agent.*1 locked/).waitFor({ timeout: 40_000 });
  await row(/acme\/shop/).click();
  await waitUntilLive(page);
});
