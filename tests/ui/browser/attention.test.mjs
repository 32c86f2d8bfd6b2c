// Concerns stand on top, lead to their place, and go when they are over.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { agentRow, openPage, queryOf, takeScreenshot, waitForHidden, waitForVisible, waitUntil, waitUntilLive } from '../harness/browser.mjs';
import { crowdedRepository } from '../harness/crowd.mjs';
import { serveRepository } from '../harness/served_repository.mjs';
import { makeTeam } from '../harness/teams.mjs';

/** @param {import('playwright-core').Page} page */
const attention = (page) => page.getByRole('region', { name: 'Needs attention' });

test('a blocked agent is named with the holder of its file, leads to its row, and is gone when it is granted', async (t) => {
  const { agent, openLive } = await serveRepository(t);
  const [dan, kim] = [agent('ada', 'dan'), agent('ada', 'kim')];
  await dan.write('src/money.ts', 'Rounding to cents');
  const { page } = await openLive();
  assert.equal(await attention(page).isVisible(), false, 'nothing needs attention');
  await kim.write('src/catalog/price.ts', 'Prices with taxes');
  const line = attention(page).getByRole('button', { name: /^kim is blocked on price\.ts by dan's money\.ts, \d+ s$/ });
  await waitForVisible(line);
  await waitForVisible(attention(page).getByText('Ask dan to push and release.'));
  await takeScreenshot(page, 'attention-blocked');
  await line.click();
  await waitUntil(() => queryOf(page, 'agent') === 'ada/kim', 'the address has the agent');
  await waitForVisible(agentRow(page, 'ada/kim').getByText('Waits for dan:'));
  await dan.release('src/money.ts');
  await kim.write('src/catalog/price.ts', 'Prices with taxes');
  await waitForHidden(attention(page));
  await waitForVisible(agentRow(page, 'ada/kim').getByText('writes 1'));
});

test('a task whose file another agent holds needs attention, and leads to the board', async (t) => {
  const { repository, server, agent, openLive } = await serveRepository(t);
  const [lead, ann] = await makeTeam(server, repository, 'alpha', [['ada', 'lead'], ['ada', 'ann-1']]);
  await lead.add([{ title: 'Pool the connections', files: ['src/store/db.ts'] }]);
  await ann.claim('t1');
  const { page } = await openLive();
  await agent('ada', 'dan').write('src/store/db.ts', 'Moving to a pool');
  const line = attention(page).getByRole('button', { name: 'ann-1 works on t1, but dan holds db.ts' });
  await waitForVisible(line);
  await line.click();
  await waitForVisible(page.locator('#task').getByText('In progress by ann-1'));
  const column = page.getByRole('region', { name: 'In progress', exact: true });
  await waitForVisible(column.getByText('dan holds db.ts'));
  await agent('ada', 'ann-1').write('src/store/pool.ts', 'Ten connections');
  await waitForVisible(column.getByText("ann-1 is blocked on pool.ts by dan's db.ts"));
  await takeScreenshot(page, 'board-lock');
});

test('a selected agent has an address, and its own activity; twelve agents stand in a window of 900 pixels', async (t) => {
  const { page } = await openPage(t, `${await crowdedRepository(t)}&agent=ada/cat`);
  await waitUntilLive(page);
  await waitForVisible(page.locator('#agents [aria-current]').getByText('cat'));
  await waitForVisible(agentRow(page, 'ada/cat').getByText('Held for'));
  await page.getByRole('button', { name: 'Details of cat' }).click();
  const rows = page.locator('#agents .agent');
  await waitUntil(async () => (await rows.count()) === 12, 'twelve agents are there');
  const bottoms = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().bottom));
  assert.ok(Math.max(...bottoms) <= 900, `${bottoms}`);
  const letters = await page.locator('#agents .badge').allTextContents();
  assert.equal(new Set(letters).size, 12, `${letters}`);
  assert.equal(await page.getByRole('combobox', { name: 'Agent', exact: true }).inputValue(), 'ada/cat');
  await page.getByRole('button', { name: /^gus/ }).click();
  await waitUntil(() => queryOf(page, 'agent') === 'ada/gus', 'the address has the other agent');
  await page.keyboard.press('Escape');
  await waitUntil(() => !page.url().includes('agent='), 'no agent is selected');
  await waitForHidden(page.locator('#agents [aria-current]'));
});
