// What agents do appears on the page: claims, conflicts, expiries, releases, refusals.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lightOfMap, lockedFile, openAgent, takeScreenshot, waitForHidden, waitForVisible, waitUntil } from '../harness/browser.mjs';
import { serveRepository } from '../harness/served_repository.mjs';

/** @param {import('node:test').TestContext} t @param {string[]} [args] */
async function openLivePage(t, args) {
  const { repository, agent, openLive } = await serveRepository(t, { args });
  const { page } = await openLive();
  return { repository, agent, page };
}

test('changes on a work branch that are not merged yet are named, until they are', async (t) => {
  const { repository, page, agent } = await openLivePage(t);
  const ada = agent('ada', 'one');
  const [file, work_branch] = ['src/store/db.ts', 'pool'];
  await ada.write(file, 'Adding a pool', { work_branch });
  const new_repo_head = repository.commit({ [file]: 'export const pool = 1;\n' }, { branch: work_branch, from: 'main' });
  const released = await ada.release(file, { work_branch, new_repo_head, agent_head: new_repo_head, abandon: false });
  assert.equal(released.status, 200, JSON.stringify(released.body));
  const title = page.getByRole('heading', { name: 'Not merged yet 1' });
  await waitForVisible(title);
  const change = page.getByRole('list', { name: 'Changes that are not merged yet' }).getByRole('button', { name: file });
  await waitForVisible(change);
  await takeScreenshot(page, 'map-not-merged');
  await change.click();
  await waitForVisible(page.getByText(/Unmerged changes by one on pool/));
  await takeScreenshot(page, 'file-not-merged');
  repository.commit({ [file]: 'export const pool = 1;\n' });
  await waitForHidden(title);
});

test('a claim appears on the map, among the locked files and among the agents, with its reason and its time', async (t) => {
  const { page, agent } = await openLivePage(t);
  assert.equal(await lightOfMap(page), 0);
  await waitForVisible(page.getByText('Nothing is locked: every file is free.'));
  await takeScreenshot(page, 'map-nothing-locked');

  await agent('ada', 'one').write(['src/auth/login.ts', 'src/auth/password.ts'], 'Moving the login to passkeys');
  await agent('bob', 'two').read('src/money.ts', 'Reading how money is rounded');
  await waitForVisible(lockedFile(page, 'src/auth/login.ts'));
  await waitForVisible(lockedFile(page, 'src/auth/password.ts'));
  const reading = page.getByRole('button', { name: /^src\/money\.ts, READING by two \(bob\), for Reading how money is rounded, expires in 5 minutes/ });
  await waitForVisible(reading);
  const ada = await openAgent(page, 'ada/one');
  await waitForVisible(ada.getByText('Moving the login to passkeys'));
  await waitForVisible(ada.getByText('writes 2'));
  await waitForVisible(ada.getByRole('button', { name: 'src/auth/login.ts, WRITING' }));
  await waitForVisible(ada.getByText(/^(5:00|4:5\d)( left)?$/));
  await waitForVisible(page.getByRole('img', { name: /2 files locked for WRITING, 1 for READING/ }));
  await waitUntil(async () => (await lightOfMap(page)) > 500, 'the cells of the locked files are lit');
  await takeScreenshot(page, 'map-claims');
});

test('a conflict is shown between the rows of the two agents', async (t) => {
  const { page, agent } = await openLivePage(t);
  await agent('ada', 'one').write('src/store/db.ts', 'Moving to a pool of connections');
  await agent('cy').write('src/money.ts', 'Rounding to cents');
  const refused = await agent('bob', 'two').write('src/store/db.ts', 'Adding a transaction');
  assert.equal(refused.status, 409);
  assert.equal(refused.body.orchestration.action, 'WAIT');
  const [ada, bob] = [await openAgent(page, 'ada/one'), await openAgent(page, 'bob/two')];
  await waitForVisible(bob.getByText('waits', { exact: true }));
  await waitForVisible(bob.getByText('Waits for one (ada):'));
  await waitForVisible(ada.getByText('two (bob) waits for db.ts'));
  await waitForVisible(bob.getByRole('button', { name: /^src\/store\/db\.ts/ }));
  await waitForVisible(bob.getByText('WAIT', { exact: true }));
  await waitUntil(async () => /1 conflict/.test(await page.title()), 'the title counts the conflict');
  await waitForVisible(page.locator('#activity').getByText(/is refused 1 file/));
  await takeScreenshot(page, 'agents-conflict');

  await agent('ada', 'one').release('src/store/db.ts');
  // Nothing of a place in the queue stays when it has ended.
  await agent('bob', 'two').write('docs/api.md', 'Explaining the limits');
  await waitForHidden(bob.getByText('Waits for one (ada):'));
  await waitForVisible(bob.getByText('writes 1'));
});

test('a claim for writing makes neighbors, which the table and the details name', async (t) => {
  const { page, agent } = await openLivePage(t);
  await agent('ada', 'one').write('src/auth/session.ts', 'Shorter sessions');
  await waitForVisible(lockedFile(page, 'src/auth/session.ts'));
  await page.getByRole('button', { name: 'Table' }).click();
  const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'login.ts' }) }).filter({ hasText: 'src/auth' });
  await waitForVisible(row.getByText('NEIGHBOR'));
  await row.getByRole('button').click();
  const details = page.locator('#file');
  await waitForVisible(details.getByText('Imports, or is imported by, files that are being written:'));
  await waitForVisible(details.getByRole('button', { name: 'src/auth/session.ts, WRITING' }));
  await takeScreenshot(page, 'table-neighbors');
});

test('the time that a lock has left counts down, and the lock ends by itself', async (t) => {
  const { page, agent } = await openLivePage(t, ['--lock-ttl', '5']);
  await agent('ada', 'one').write('src/money.ts', 'Rounding to cents');
  const button = lockedFile(page, 'src/money.ts');
  const seen = /** @type {string[]} */ ([]);
  await waitForVisible(button);
  await waitUntil(async () => {
    for (const text of await button.allTextContents()) {
      const left = /\d:\d\d/.exec(text)?.[0];
      if (left && left !== seen.at(-1)) seen.push(left);
    }
    return (await button.count()) === 0;
  }, 'the lock ends');
  // A loaded machine may skip a second, but none comes twice, and the time only falls.
  assert.deepEqual(seen, [...new Set(seen)].sort().reverse());
  assert.ok(seen.length >= 2, `seen: ${seen}`);
  await waitUntil(async () => (await lightOfMap(page)) === 0, 'the light goes out');
  // The next claim of the file finds the old lock, and announces its end.
  await agent('bob', 'two').write('src/money.ts', 'Adding a currency');
  await waitForVisible(page.locator('#activity').getByText(/expire/));
});

// How it fades is a test of the unit: a loaded machine may draw no frame of it.
test('a released lock goes out on the map', async (t) => {
  const { page, agent } = await openLivePage(t);
  await agent('ada', 'one').write('src/money.ts', 'Rounding to cents');
  await waitForVisible(lockedFile(page, 'src/money.ts'));
  await waitUntil(async () => (await lightOfMap(page)) > 500, 'the cell is lit');
  const ended = agent('ada', 'one').release('src/money.ts');
  await waitUntil(async () => (await lightOfMap(page)) === 0, 'the light goes out');
  await ended;
  await waitForHidden(lockedFile(page, 'src/money.ts'));
});

test('an agent that is refused is shown with the command that it was given', async (t) => {
  const { page, agent, repository } = await openLivePage(t);
  const behind = repository.head();
  await agent('ada', 'one').write('src/money.ts', 'Rounding to cents');
  assert.equal((await agent('bob', 'two').write('src/money.ts', 'Adding a currency')).body.orchestration.action, 'WAIT');
  const unpushed = await agent('ada', 'one').release('src/money.ts', { abandon: false, new_repo_head: behind });
  assert.equal(unpushed.body.orchestration.action, 'PUSH');
  repository.commit({ 'src/store/pool.ts': 'export const size = 4;\n' });
  await agent('cy').check('README.md');
  const stale = await agent('cy').write('src/store/pool.ts', 'A larger pool', { agent_head: behind });
  assert.equal(stale.body.orchestration.action, 'PULL');
  for (const [holder, command] of [['bob/two', 'WAIT'], ['ada/one', 'PUSH'], ['cy', 'PULL']]) {
    await waitForVisible(page.locator('#activity').getByRole('listitem').filter({ has: page.locator(`[title="${holder}"]`) }).getByText(command, { exact: true }));
    await waitForVisible((await openAgent(page, holder)).getByText(command, { exact: true }));
  }
  await takeScreenshot(page, 'agents-commands');
});
