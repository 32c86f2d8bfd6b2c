// A person's actions on the page: confirmed, with the name of the person, and hidden from callers without the right.

import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { test } from 'node:test';

import { addressOf, FAILED_REQUEST, lockedFile, openAgent, takeScreenshot, waitForHidden, waitForVisible, waitUntilLive } from '../harness/browser.mjs';
import { serveRepository } from '../harness/served_repository.mjs';
import { makeTeam } from '../harness/teams.mjs';
import { SECRET, tokenOf } from '../harness/tokens.mjs';

const ME = userInfo().username;
/** @param {import('playwright-core').Page} page */
const dialog = (page) => page.locator('#action');

test('a lock is released by force after a reason, in the name of the person, and the command can be copied', async (t) => {
  const { agent, openLive } = await serveRepository(t);
  await agent('ada', 'dan').write('src/money.ts', 'Rounding to cents');
  const { page } = await openLive({}, { permissions: ['clipboard-read', 'clipboard-write'] });
  const row = await openAgent(page, 'ada/dan');
  await row.getByRole('button', { name: 'Release by force: files of dan' }).click();
  await waitForVisible(dialog(page).getByRole('heading', { name: 'Release money.ts of dan by force?' }));
  await waitForVisible(dialog(page).getByText(`Done by ${ME}.`));
  await dialog(page).getByRole('button', { name: 'Release by force' }).click();
  await waitForVisible(lockedFile(page, 'src/money.ts'));
  await dialog(page).getByRole('textbox').fill("dan's laptop is closed");
  await takeScreenshot(page, 'act-release');
  await dialog(page).getByRole('button', { name: 'Copy the command' }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "coord release --force --branch main --reason 'dan'\\''s laptop is closed' src/money.ts");
  await dialog(page).getByRole('button', { name: 'Release by force' }).click();
  await waitForHidden(lockedFile(page, 'src/money.ts'));
  await waitForHidden(dialog(page));
  await waitForVisible(page.locator('#activity').getByText(`loses 1 file: released by force by ${ME}`));
});

test('a holder in the team gets a message, and a person assigns their own tasks only', async (t) => {
  const { repository, server, agent, openLive } = await serveRepository(t);
  const [, ann] = await makeTeam(server, repository, 'alpha', [['ada', 'lead'], ['ada', 'ann-1']]);
  await agent('ada', 'ann-1').write('src/money.ts', 'Rounding to cents');
  const { page } = await openLive();
  const row = await openAgent(page, 'ada/ann-1');
  await row.getByRole('button', { name: 'Message ann-1' }).click();
  await waitForVisible(dialog(page).getByText(`Done by ${ME}, who joins team alpha for it.`));
  await dialog(page).getByRole('textbox').fill('Please push money.ts');
  await dialog(page).getByRole('button', { name: 'Send' }).click();
  await waitForHidden(dialog(page));
  const { body } = await ann.request('messages/read', { team: 'alpha' });
  assert.deepEqual(body.messages.map((/** @type {any} */ { from, message }) => [from, message]), [[ME, 'Please push money.ts']]);

  // A task that I added is mine to assign; one of the leader is not.
  const added = await fetch(new URL('api/tasks', server.url), { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ repo_url: repository.repoUrl, team: 'alpha', tasks: [{ title: 'Mine' }] }) });
  assert.equal(added.status, 200, `${await added.text()}`);
  await ann.add([{ title: 'Of ann' }]);
  await page.goto(addressOf(server, repository, { view: 'board', task: 't2' }));
  await waitForVisible(page.locator('#task').getByText(/added by ann-1/));
  assert.equal(await page.locator('#task').getByRole('button', { name: 'Assign' }).isVisible(), false);
  await page.goto(addressOf(server, repository, { view: 'board', task: 't1' }));
  await page.locator('#task').getByRole('button', { name: 'Assign' }).click();
  await dialog(page).getByLabel('Member').selectOption('ann-1');
  await dialog(page).getByRole('button', { name: 'Assign' }).click();
  await waitForVisible(page.locator('#task').getByText(/assigned to ann-1/));
});

test('the page no longer offers an action that the server has refused', async (t) => {
  const { agent, open } = await serveRepository(t, { isPublic: true, env: { COORD_JWT_SECRET: SECRET, COORD_APPROVERS: 'boss' } });
  await agent('bob', 'two', { token: tokenOf({ sub: 'bob', name: 'Bob' }) }).write('src/money.ts', 'Rounding to cents');
  const { page } = await open({}, { permits: FAILED_REQUEST });
  const signIn = page.getByRole('dialog', { name: 'Sign in' });
  await signIn.getByLabel('Token').fill(tokenOf());
  await signIn.getByRole('button', { name: 'Sign in' }).click();
  await waitUntilLive(page);
  const row = await openAgent(page, 'bob/two');
  const release = row.getByRole('button', { name: /^Release by force/ });
  await release.click();
  await waitForVisible(dialog(page).getByText('Done by ada.'));
  await dialog(page).getByRole('textbox').fill('Bob is away');
  await dialog(page).getByRole('button', { name: 'Release by force' }).click();
  await waitForVisible(dialog(page).getByText(/^Nothing was changed: .*only an owner of the repository/));
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  await waitForHidden(release);
  await waitForVisible(lockedFile(page, 'src/money.ts'));
});
