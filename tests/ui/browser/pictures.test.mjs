// Pictures of the whole page for those who review it: three widths, light and dark.

import { test } from 'node:test';

import { agentRow, openPage, takeScreenshot, waitForVisible, waitUntilLive } from '../harness/browser.mjs';
import { crowdedRepository } from '../harness/crowd.mjs';
import { serveRepository } from '../harness/served_repository.mjs';

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  test(`pictures of twelve agents, ${colorScheme}`, async (t) => {
    const address = await crowdedRepository(t);
    for (const [width, height] of [[390, 844], [1440, 900], [2560, 1440]]) {
      const { page } = await openPage(t, address, { colorScheme, viewport: { width, height } });
      await waitUntilLive(page);
      await agentRow(page, 'ada/kim').waitFor({ state: 'attached' });
      await takeScreenshot(page, `crowd-${width}-${colorScheme}`);
      if (width > 390) {
        await agentRow(page, 'ada/cat').locator('.agent-select').click();
        await waitForVisible(agentRow(page, 'ada/cat').getByText('Held for'));
        await takeScreenshot(page, `crowd-${width}-${colorScheme}-agent`);
        await page.locator('#views').getByRole('button', { name: 'Time' }).click();
        await waitForVisible(page.getByRole('img', { name: /^dan: held/ }));
        await takeScreenshot(page, `crowd-${width}-${colorScheme}-time`);
        continue;
      }
      const sections = page.getByRole('navigation', { name: 'Sections' });
      await sections.getByRole('button', { name: 'Agents' }).click();
      await waitForVisible(agentRow(page, 'ada/kim'));
      await takeScreenshot(page, `crowd-${width}-${colorScheme}-agents`);
    }
  });
}

test('a picture of the smallest repository', async (t) => {
  const { openLive } = await serveRepository(t, { files: { 'main.py': 'print(1)\n' }, name: 'acme/one' });
  const { page } = await openLive();
  await takeScreenshot(page, 'smallest');
});
