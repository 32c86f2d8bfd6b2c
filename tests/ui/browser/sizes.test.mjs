// Small, middle and large repositories.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lockedFile, takeScreenshot, waitForVisible } from '../harness/browser.mjs';
import { generatedFiles } from '../harness/repositories.mjs';
import { serveRepository } from '../harness/served_repository.mjs';

for (const count of [100, 2000, 20_000]) {
  test(`a repository of ${count.toLocaleString('en')} files is shown, searched and claimed in`, async (t) => {
    const files = generatedFiles(count);
    const { agent, open } = await serveRepository(t, { files, name: `acme/of-${count}` });
    const { page } = await open();
    await page.getByRole('img', { name: new RegExp(`^Map of ${count.toLocaleString('en-US')} files`) }).waitFor({ timeout: 60_000 });
    const scanned = Object.keys(files).filter((path) => path.endsWith('.ts'));
    const claimed = [0.1, 0.35, 0.6, 0.85].map((share) => scanned[Math.floor(scanned.length * share)]);
    for (const [index, path] of claimed.entries()) {
      const holder = agent(['ada', 'bob', 'cy', 'dee'][index], `agent-${index}`);
      await (index === 3 ? holder.read(path, 'Reading it') : holder.write(path, 'Changing it'));
    }
    // A neighbor of another may be refused: at least the first and the reader have theirs.
    await waitForVisible(lockedFile(page, claimed[0]));
    await waitForVisible(page.locator('#activity').getByText('Reading it'));
    await takeScreenshot(page, `size-${count}`);
    await lockedFile(page, claimed[0]).click();
    await waitForVisible(page.locator('#file').getByText(/^PROCEED|SWITCH_TASK/));
    await takeScreenshot(page, `size-${count}-selected`);
    await page.keyboard.press('t');
    await page.keyboard.press('/');
    await page.keyboard.type(claimed[1]);
    await waitForVisible(page.getByText(/^1 file of/));
    await page.keyboard.press('Escape');
    await waitForVisible(page.getByText(new RegExp(`^${count.toLocaleString('en-US')} files$`)));
    await takeScreenshot(page, `size-${count}-table`);
    assert.ok((await page.getByRole('row').count()) < 120, 'only rows in view are in the document');
  });
}
