// Intents and the ledger from the server itself to the page: written, selected, worked on, refused, spent and completed.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { takeScreenshot, waitForVisible, waitUntil } from '../harness/browser.mjs';
import { serveRepository } from '../harness/served_repository.mjs';

const ID = 'REQ-LOGIN-1';

test('the page follows an intent from its creation to its completion', async (t) => {
  const { repository, server, agent, openLive } = await serveRepository(t);
  /** @param {string} path @param {object} fields */
  const ada = async (path, fields) => {
    const body = JSON.stringify({ repo_url: repository.repoUrl, ...fields });
    const response = await fetch(new URL(`api/${path}`, server.url), { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Coord-User': 'ada' }, body });
    assert.ok(response.ok, `${path}: ${await response.text()}`);
  };
  const one = agent('ada', 'one');
  const { page, sent } = await openLive();
  assert.equal(await page.getByRole('button', { name: /^Intents/ }).filter({ visible: true }).count(), 0, 'there are none yet');

  await ada('intents', { id: ID, name: 'Passkeys', description: 'Signing in without passwords.', owned_scope: ['src/auth/**'], acceptance_criteria: ['Tests pass'], budget: { max_turns: 5, max_tokens: null } });
  await page.locator('.aside-tabs').getByRole('button', { name: /^Intents/ }).click();
  const row = page.locator(`#intents li[data-intent="${ID}"]`);
  await waitForVisible(row.getByText('Not begun'));

  await ada(`intents/${ID}/select`, { agent_id: 'one' });
  await waitForVisible(row.getByText('In progress'));
  const claim = { intent_id: ID, tool_call: { name: 'Edit', digest: 'one' } };
  const { body: claimed } = await one.write('src/auth/login.ts', 'Moving the login to passkeys', claim);
  assert.equal(claimed.success, true, JSON.stringify(claimed));
  await waitForVisible(row.getByText('1 owned file'));
  await waitForVisible(row.locator('.intent-worker[title="ada/one"]'));
  await waitForVisible(row.getByText('1 of 5'));

  const { status, body: refused } = await one.write('docs/api.md', 'Telling about passkeys', { ...claim, tool_call: { name: 'Edit', digest: 'two' } });
  assert.deepEqual([status, refused.error], [409, 'SCOPE_VIOLATION']);
  await waitForVisible(page.getByRole('heading', { name: '1 open refusal' }));
  const { body: other } = await agent('bob').write('src/auth/login.ts', 'Longer passwords');
  assert.equal(other.error, 'FILE_OWNED');
  await waitForVisible(page.locator('.refusal').filter({ hasText: 'bob' }).getByRole('button', { name: 'Passkeys' }));
  await takeScreenshot(page, 'served-intents');

  const hash = `sha256:${'ab'.repeat(32)}`;
  await ada('ledger', { branch: 'main', agent_id: 'one', session: { session_id: 's-1', contributor: 'a model' }, entries: [{ trace_id: 'trace-1', kind: 'mutation', tool_name: 'Edit', file_path: 'src/auth/login.ts', hash, output_summary: 'Passkeys first' }] });
  await page.locator('.aside-tabs').getByRole('button', { name: 'Ledger' }).click();
  const lines = page.getByRole('region', { name: 'Ledger, the newest first' }).getByRole('listitem');
  await waitForVisible(lines.filter({ hasText: 'Passkeys first' }).getByText('SUCCESS'));
  await waitForVisible(lines.filter({ hasText: 'Scope Violation' }).getByText('DENIED'));
  await waitForVisible(page.getByText(/^Sealed: [1-9]\d* lines?, [0-9a-f]{12}$/));
  await takeScreenshot(page, 'served-ledger');

  await ada(`intents/${ID}/complete`, { force: true, reason: 'Seen by a person.' });
  await page.getByText('1 intent ended').click();
  await waitForVisible(row.getByText('Seen by a person.'));
  await waitForVisible(page.locator('#ledger').getByText(/^Sealed:/));
  const reads = sent.filter((request) => /\/api\/intents\?/.test(request.url())).length;
  assert.ok(reads <= 12, `${reads} reads of the intents`);
  await waitUntil(async () => (await page.locator('#locked').textContent())?.includes('login.ts'), 'the lock stays until it is released');
});
