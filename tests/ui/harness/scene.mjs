// A repository with several agents at work: what most pictures of the page show.

import { addressOf, lockedFile, openPage, waitForVisible, waitUntilLive } from './browser.mjs';
import { serveRepository } from './served_repository.mjs';

/**
 * Five agents: three write, one reads, one is refused.
 * @param {import('node:test').TestContext} t
 */
export async function busyRepository(t) {
  const { repository, server, agent } = await serveRepository(t);
  await agent('ada', 'claude-1').write(['src/auth/login.ts', 'src/auth/password.ts'], 'Moving the login to passkeys');
  await agent('grace', 'codex-2').write('src/catalog/search.ts', 'Search by several words at once, with the words in any order');
  await agent('grace').write('docs/deploy.md', 'How to deploy behind a proxy');
  await agent('linus', 'cursor').read(['src/money.ts', 'src/payment/charge.ts'], 'Reading how money is rounded');
  await agent('margaret').write('src/auth/password.ts', 'Longer passwords');
  return { repository, server, agent, address: addressOf(server, repository) };
}

/**
 * @param {import('node:test').TestContext} t
 * @param {string} address
 * @param {Parameters<typeof openPage>[2]} [options]
 */
export async function openBusy(t, address, options) {
  const { page } = await openPage(t, address, options);
  await waitUntilLive(page);
  await waitForVisible(lockedFile(page, 'src/auth/login.ts'));
  await page.locator('#agents').getByText('margaret', { exact: true }).first().waitFor({ state: 'attached' });
  return page;
}
