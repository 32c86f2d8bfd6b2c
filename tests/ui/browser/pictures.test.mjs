// Pictures of the whole page for those who review it: three widths, light and dark.

import { test } from 'node:test';

import { agentRow, live, openPage, picture, shows } from '../harness/browser.mjs';
import { crowdedRepository } from '../harness/crowd.mjs';
import { serve } from '../harness/served.mjs';

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  test(`pictures of twelve agents, ${colorScheme}`, async (t) => {
    const address = await crowdedRepository(t);
    for (const [width, height] of [[390, 844], [1440, 900], [2560, 1440]]) {
      const { page } = await openPage(t, address, { colorScheme, viewport: { width, height } });
      await live(page);
      await agentRow(page, 'ada/kim').waitFor({ state: 'attached' });
      await picture(page, `crowd-${width}-${colorScheme}`);
      if (width > 390) {
        await agentRow(page, 'ada/cat').locator('.agent-select').click();
        await shows(agentRow(page, 'ada/cat').getByText('Held for'));
        await picture(page, `crowd-${width}-${colorScheme}-agent`);
        await page.locator('#views').getByRole('button', { name: 'Time' }).click();
        await shows(page.getByRole('img', { name: /^dan: held/ }));
        await picture(page, `crowd-${width}-${colorScheme}-time`);
        continue;
      }
      const sections = page.getByRole('navigation', { name: 'Sections' });
      await sections.getByRole('button', { name: 'Agents' }).click();
      await shows(agentRow(page, 'ada/kim'));
      await picture(page, `crowd-${width}-${colorScheme}-agents`);
    }
  });
}

test('a picture of the smallest repository', async (t) => {
  const { openLive } = await serve(t, { files: { 'main.py': 'print(1)\n' }, name: 'acme/one' });
  const { page } = await openLive();
  await picture(page, 'smallest');
});
