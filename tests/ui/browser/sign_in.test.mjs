// A deployment that needs credentials.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FAILED_REQUEST, lockedFile, takeScreenshot, waitForHidden, waitForVisible, waitUntilLive } from '../harness/browser.mjs';
import { serveRepository } from '../harness/served_repository.mjs';
import { SECRET, tokenOf } from '../harness/tokens.mjs';

/** @typedef {import('playwright-core').Page} Page */

/** @param {import('node:test').TestContext} t */
async function openDeployment(t) {
  const { server, agent, open } = await serveRepository(t, { isPublic: true, env: { COORD_JWT_SECRET: SECRET } });
  return { server, agent, ...(await open({}, { permits: FAILED_REQUEST })) };
}

/** @param {Page} page @param {string} token */
async function signIn(page, token) {
  const dialog = page.getByRole('dialog', { name: 'Sign in' });
  await waitForVisible(dialog);
  await dialog.getByLabel('Token').fill(token);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
}

test('a token opens the page, stays in the tab, and is sent to our origin alone, never in an address', async (t) => {
  const { page, server, agent, requests, sent, frames } = await openDeployment(t);
  const token = tokenOf();
  await waitForVisible(page.getByRole('dialog', { name: 'Sign in' }));
  await takeScreenshot(page, 'sign-in');
  await signIn(page, token);
  await waitUntilLive(page);
  await agent('bob', 'two', { token: tokenOf({ sub: 'bob', name: 'Bob' }) }).write('src/money.ts', 'Rounding to cents');
  await waitForVisible(lockedFile(page, 'src/money.ts'));
  await page.getByRole('button', { name: 'Table' }).click();
  // The strip of locked files, which is hidden a moment later, has a button of the same name.
  await page.getByRole('region', { name: 'Table of files' }).getByRole('button', { name: 'money.ts' }).click();
  await waitForVisible(page.locator('#file').getByText('SWITCH_TASK'));

  const { local, session, cookies } = await page.evaluate(() => ({
    local: JSON.stringify(localStorage), session: JSON.stringify(sessionStorage), cookies: document.cookie,
  }));
  assert.ok(session.includes(token), 'in the session storage of the tab');
  assert.ok(!local.includes(token) && !cookies.includes(token) && !page.url().includes(token));
  assert.ok(!(await page.content()).includes(token), 'not in the document');
  assert.ok(requests.length > 20, 'requests were watched');
  for (const url of requests) assert.ok(!url.includes(token.slice(-20)), `in an address: ${url}`);
  const carriers = await Promise.all(sent.map(async (request) => ({ url: request.url(), value: (await request.allHeaders()).authorization })));
  const carrying = carriers.filter(({ value }) => value !== undefined);
  assert.ok(carrying.length > 2);
  for (const { url, value } of carrying) {
    assert.equal(value, `Bearer ${token}`);
    assert.ok(url.startsWith(`${server.url}api/`), url);
  }
  assert.deepEqual(frames.map((frame) => JSON.parse(frame)), [{ type: 'authenticate', token }]);

  const second = await page.context().newPage();
  await second.goto(page.url());
  await waitForVisible(second.getByRole('dialog', { name: 'Sign in' }));
  await second.close();
  await page.reload();
  await waitForVisible(lockedFile(page, 'src/money.ts').or(page.getByRole('region', { name: 'Table of files' })));
  await page.getByRole('button', { name: 'Sign out' }).click();
  await waitForHidden(page.locator('#file'));
  assert.equal(await page.evaluate(() => JSON.stringify(sessionStorage).includes('ey')), false);
});

test('a token that is wrong is refused with the reason, and another can be pasted', async (t) => {
  const { page } = await openDeployment(t);
  await signIn(page, tokenOf({}, 'another secret that is long enough, too'));
  await waitForVisible(page.getByRole('dialog', { name: 'Sign in' }).getByText(/The token was not accepted: .*secret/));
  await takeScreenshot(page, 'sign-in-refused');
  await signIn(page, tokenOf({ exp: Math.floor(Date.now() / 1000) - 600 }));
  await waitForVisible(page.getByRole('dialog', { name: 'Sign in' }).getByText(/expired|exp/));
  await signIn(page, tokenOf());
  await waitUntilLive(page);
});

test('a token without a right to the repository gets the reason, and shows nothing of the repository', async (t) => {
  const { page } = await openDeployment(t);
  await signIn(page, tokenOf({ repos: ['github.com/acme/other'] }));
  const state = page.getByRole('region', { name: 'State', exact: true });
  await waitForVisible(state.getByText('No right to see this repository'));
  await waitForVisible(state.getByText(/not valid for github\.com\/acme\/shop/));
  assert.equal(await page.getByText(/every file is free|No agent holds/).filter({ visible: true }).count(), 0);
  await takeScreenshot(page, 'state-no-right');
  await state.getByRole('button', { name: 'Sign in' }).click();
  await signIn(page, tokenOf());
  await waitUntilLive(page);
});

test('without a token, nothing of a repository is read, and the dialog can be left', async (t) => {
  const { page } = await openDeployment(t);
  await page.getByRole('dialog', { name: 'Sign in' }).getByRole('button', { name: 'Cancel' }).click();
  const state = page.getByRole('region', { name: 'State', exact: true });
  await waitForVisible(state.getByText('Sign-in needed'));
  await takeScreenshot(page, 'state-sign-in');
  await page.getByRole('button', { name: 'Sign in' }).first().click();
  await signIn(page, tokenOf());
  await waitUntilLive(page);
});
