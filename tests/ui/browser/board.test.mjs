// The board of a team on the page, over the real server: its life, its addresses and keys, hostile texts, and needless requests.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { excessWidth, FAILED_REQUEST, queryOf, takeScreenshot, waitForHidden, waitForVisible, waitUntil, waitUntilLive } from '../harness/browser.mjs';
import { serveRepository } from '../harness/served_repository.mjs';
import { busyTeam, makeTeam, memberOf } from '../harness/teams.mjs';

/** @typedef {import('playwright-core').Page} Page */

/** @param {import('node:test').TestContext} t @param {{ isBusy?: boolean }} [options] */
async function serveTeam(t, { isBusy = false } = {}) {
  const { repository, server, ...rest } = await serveRepository(t);
  const members = isBusy ? await busyTeam(server, repository) : await makeTeam(server, repository, 'alpha', [['ada', 'lead'], ['ann', 'ann-1'], ['bob', 'bob-1']]);
  /** @type {typeof rest.open} */
  const open = (more, options) => rest.open({ view: 'board', ...more }, options);
  return { server, members, open };
}

/** @param {Page} page @param {string} name */
const column = (page, name) => page.getByRole('region', { name: 'Board', exact: true }).getByRole('region', { name, exact: true });
/** @param {Page} page @param {string} name @param {string} id */
const card = (page, name, id) => column(page, name).getByRole('listitem').filter({ has: page.locator(`[data-task="${id}"]`) });
/** @param {Page} page @param {string} handle */
const member = (page, handle) => page.locator(`#members [data-handle="${handle}"]`);
/** @param {Page} page */
const details = (page) => page.locator('#task');

test('tasks are added, claimed, completed with what follows, edited and deleted, as it happens', async (t) => {
  const { members: [lead, ann], open } = await serveTeam(t);
  const { page, requests } = await open();
  await waitForVisible(page.getByText('No task is ready.'));
  await lead.add([{ ref: 'a', title: 'Pool the connections', priority: 'high', files: ['src/store/db.ts'] }, { ref: 'b', title: 'Document the pool', dependencies: ['a'] }, { title: 'Announce it', dependencies: ['b'] }]);
  await waitForVisible(card(page, 'Ready', 't1').getByText('high'));
  await waitForVisible(card(page, 'Blocked', 't2').getByText('Waits for t1 (nobody)'));
  await waitForVisible(page.getByText('3 open tasks').first());
  const top = page.locator('.blockers li');
  await waitForVisible(top.filter({ hasText: 'Pool the connections' }).filter({ hasText: 'nobody' }));
  assert.equal(await top.locator('.blocker-count').first().textContent(), '2');

  await ann.claim('t1');
  const held = card(page, 'In progress', 't1');
  await waitForVisible(held.getByText('ann-1'));
  // By its badge an agent is known in each view.
  for (const place of [held, member(page, 'ann-1')]) assert.equal(await place.locator('.badge').first().getAttribute('title'), 'ann/ann-1');
  const first = await held.locator('.left-text').textContent();
  assert.match(first ?? '', /^1[45]:\d\d$/);
  await waitUntil(async () => (await held.locator('.left-text').textContent()) !== first, 'it counts down');
  await waitForVisible(card(page, 'Blocked', 't2').getByText('Waits for t1 (ann-1)'));
  await waitForVisible(member(page, 'ann-1').getByRole('button', { name: /^t1 Pool the connections \(In progress\)$/ }));
  const taskRequests = requests.filter((url) => url.includes('/api/tasks')).length;
  await ann.complete('t1', 'query() is async now');
  await waitForVisible(card(page, 'Done', 't1').getByText('ann-1'));
  await waitForVisible(card(page, 'Ready', 't2'));
  await waitForVisible(card(page, 'Blocked', 't3'));
  assert.equal(requests.filter((url) => url.includes('/api/tasks')).length, taskRequests, 'what events say is not read again');

  await lead.request('tasks/t2', { team: 'alpha', title: 'Document the pool and its bounds', note: 'Ask ann.' }, 'PATCH');
  await waitForVisible(card(page, 'Ready', 't2').getByText('Document the pool and its bounds'));
  await ann.claim('t2');
  await ann.release('t2', 'Half of it is written');
  await waitForVisible(card(page, 'Ready', 't2').getByText('Released by ann-1'));
  await lead.remove('t3');
  await waitForHidden(card(page, 'Blocked', 't3'));
  await waitForVisible(page.getByText('1 open task').first());
});

test('an expired claim frees its task, and the board names the last owner', async (t) => {
  const { members: [lead, ann, bob], open } = await serveTeam(t);
  await lead.add([{ title: 'Pool the connections' }, { title: 'Announce it' }]);
  await ann.claim('t1', { lease_seconds: 30 });
  const { page } = await open();
  await waitForVisible(card(page, 'In progress', 't1').getByText(/^0:[012]\d$/));
  await card(page, 'Ready', 't1').getByText('The claim of ann-1 expired').waitFor({ timeout: 60_000 });
  // The first request that meets it announces it, once.
  await bob.claim('t1');
  await waitForVisible(card(page, 'In progress', 't1').getByText('A claim expired before'));
  await page.keyboard.press('m');
  const loss = page.locator('#activity').getByText('loses task t1: the claim expired');
  await waitForVisible(loss);
  assert.equal(await loss.count(), 1);
});

test('messages stand in threads, by inbox, with who has not read them; older ones are read on demand', async (t) => {
  const { members: [lead, ann, bob], open } = await serveTeam(t);
  const { page } = await open();
  await waitForVisible(page.getByText('Nothing has been said in this team yet.'));
  const first = await ann.send('bob-1', 'Does query() keep the order?');
  await waitForVisible(member(page, 'bob-1').getByText('1 unread'));
  await lead.send('broadcast', 'Frozen at six.');
  await bob.send('ann-1', 'Yes, as before.', { reply_to: first });
  const messages = page.locator('#messages');
  const thread = messages.locator('.entry-thread').first();
  await waitForVisible(thread.getByText('Yes, as before.'));
  assert.deepEqual(await thread.locator('.message-text').allTextContents(), ['Does query() keep the order?', 'Yes, as before.']);
  await waitForVisible(messages.locator('.message').filter({ hasText: 'Frozen at six.' }).getByText('Not read by ann-1, bob-1'));

  await member(page, 'lead').getByRole('button', { name: /^Inbox of lead/ }).click();
  await waitForHidden(messages.getByText('Yes, as before.'));
  await waitForVisible(messages.getByText('Frozen at six.'));
  assert.equal(queryOf(page, 'inbox'), 'lead');
  await page.keyboard.press('Escape');
  await waitForVisible(messages.getByText('Yes, as before.'));
  for (let count = 0; count < 60; count++) await ann.send('lead', `Message ${count}`);
  await waitForVisible(messages.getByText('Message 59', { exact: true }));
  await page.reload();
  await waitForVisible(messages.getByText('Message 59', { exact: true }));
  const older = messages.getByRole('button', { name: 'Load older' });
  await older.click();
  await waitForVisible(messages.getByText('Does query() keep the order?'));
  await waitForHidden(older);
});

test('an open shutdown says who has answered and who has not, until the team is closed', async (t) => {
  const { members: [lead, ann, bob], open } = await serveTeam(t);
  const { page } = await open();
  await waitForVisible(member(page, 'bob-1'));
  const { shutdown_id: id } = await lead.shutdown('request', { reason: 'The release is out.', respond_by_seconds: 90 });
  const shutdown = page.getByRole('region', { name: 'Open shutdown' });
  await waitForVisible(shutdown.getByText('lead asks the team to stop.'));
  await waitForVisible(shutdown.getByText(/^Answers are due in 1:/));
  await waitForVisible(shutdown.getByText('No answer yet: ann-1, bob-1'));
  await ann.shutdown('reject', { shutdown_id: id, reason: 'Not yet.' });
  await waitForVisible(shutdown.getByText('Rejected: ann-1'));
  await waitForVisible(shutdown.getByText('No answer yet: bob-1'));
  await bob.shutdown('approve', { shutdown_id: id });
  await waitForVisible(member(page, 'bob-1').getByText('Has stopped'));
  // With the last answer it ends by the rejection.
  await waitForHidden(shutdown);
  const { shutdown_id: next } = await lead.shutdown('request', { reason: 'Now it is.' });
  await waitForVisible(shutdown.getByText('Now it is.'));
  await waitForVisible(shutdown.getByText('No answer yet: ann-1'));
  await ann.shutdown('approve', { shutdown_id: next });
  await waitForHidden(shutdown);
  await waitForVisible(page.locator('.board-facts').getByText('closed'));
  await waitUntil(async () => (await page.getByRole('combobox', { name: 'Team' }).locator('option').textContent()) === 'alpha (closed)', 'the list of teams knows it');
});

test('a task has its texts, what it waits for and what waits for it, and leads to its files and on to the next task', async (t) => {
  const { open, members: [, claude] } = await serveTeam(t, { isBusy: true });
  const { page } = await open({ team: 'alpha', task: 't16' });
  await waitForVisible(details(page).getByRole('heading', { name: 't16 Move prices to integers: tests' }));
  await waitForVisible(details(page).getByText(/^Waits for 2 tasks\. Blocks \d+ tasks?\.$/));
  const above = details(page).getByRole('list', { name: 'What it waits for', exact: true });
  assert.deepEqual((await above.getByRole('button').locator('code').allTextContents()).sort(), ['t11', 't4']);
  await waitForVisible(details(page).getByRole('list', { name: 'What waits for it', exact: true }).getByRole('button').first());
  await takeScreenshot(page, 'board-task');
  await above.getByRole('button').first().click();
  await waitUntil(() => queryOf(page, 'task') !== 't16', 'another task is selected');
  await page.goBack();
  await waitForVisible(details(page).getByRole('heading', { name: /^t16 / }));
  await page.goto(page.url().replace(/task=[^&]*/, 'task=t14'));
  await waitForVisible(details(page).getByText('Waits for 1 task'));
  await claude.complete('t2', 'Sessions are passkeys now');
  await waitForVisible(details(page).getByText('Ready', { exact: true }));
  await waitForVisible(details(page).locator('.met-list').getByText('Sessions are passkeys now'));
  await details(page).getByRole('button', { name: 'src/auth/session.ts' }).click();
  await waitForVisible(page.locator('#file').getByRole('button', { name: /^t14 Sessions by passkey: tests \(Ready\)$/ }));
  await takeScreenshot(page, 'board-file-tasks');
});

test('cards are reached and walked through by keys, open, and give the focus back; letters change the view', async (t) => {
  const { open } = await serveTeam(t, { isBusy: true });
  const { page } = await open();
  await waitForVisible(card(page, 'Ready', 't8'));
  const focused = () => page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement).dataset.task ?? document.activeElement?.textContent ?? '');
  let steps = 0;
  for (; steps < 60 && !/^t\d+$/.test(await focused()); steps++) await page.keyboard.press('Tab');
  const first = await focused();
  assert.match(first, /^t\d+$/);
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 't8', 'one stop in each column');
  await page.keyboard.press('ArrowDown');
  const second = await focused();
  assert.match(second, /^t\d+$/);
  assert.notEqual(second, 't8');
  await page.keyboard.press('ArrowRight');
  assert.ok(await column(page, 'In progress').evaluate((element) => element.contains(document.activeElement)));
  await page.keyboard.press('ArrowLeft');
  assert.equal(await focused(), second, 'back in the column');
  await page.keyboard.press('End');
  await page.keyboard.press('Home');
  assert.equal(await focused(), 't8');
  await takeScreenshot(page, 'board-focus');
  await page.keyboard.press('Enter');
  await waitForVisible(details(page).getByRole('heading', { name: /^t8 / }));
  assert.ok(await details(page).evaluate((element) => element.contains(document.activeElement)), 'the focus is in the details');
  await page.keyboard.press('Escape');
  await waitForHidden(details(page));
  assert.equal(await focused(), 't8');
  await page.keyboard.press('t');
  await waitForVisible(page.getByRole('region', { name: 'Table of tasks' }));
  assert.equal(queryOf(page, 'view'), 'tasks');
  await page.keyboard.press('m');
  await waitUntilLive(page);
  await page.keyboard.press('b');
  await waitForVisible(card(page, 'Ready', 't8'));
});

test('the table of tasks sorts, filters, and selects; its address is the board with another view', async (t) => {
  const { open } = await serveTeam(t, { isBusy: true });
  const { page } = await open({ view: 'tasks' });
  const table = page.getByRole('region', { name: 'Table of tasks' });
  await waitForVisible(table.getByRole('row', { name: /Sessions by passkey t2 In progress/ }));
  await waitForVisible(page.getByText('60 tasks', { exact: true }));
  await table.getByRole('button', { name: 'Wait for it' }).click();
  assert.equal(await table.getByRole('columnheader', { name: 'Wait for it' }).getAttribute('aria-sort'), 'descending');
  await page.keyboard.press('/');
  await page.keyboard.type('passkey');
  await waitForVisible(page.getByText(/^[45] tasks of 60$/));
  await waitForVisible(page.getByRole('listbox', { name: 'Matches' }).getByRole('group', { name: 'Tasks' }).getByRole('option', { name: 't2 Sessions by passkey', exact: true }));
  await page.keyboard.press('Escape');
  await waitForVisible(page.getByText('60 tasks', { exact: true }));
  await page.getByRole('switch', { name: 'Only what is not completed' }).click();
  await waitForVisible(page.getByText('57 tasks of 60'));
  await table.getByRole('button', { name: 'Receipts as PDF', exact: true }).click();
  await waitForVisible(details(page).getByRole('heading', { name: 't11 Receipts as PDF' }));
  assert.equal(queryOf(page, 'task'), 't11');
  await takeScreenshot(page, 'board-table');
});

test('what agents write is text: markup, bidirectional marks and long words change nothing around them', async (t) => {
  const { members: [lead, ann], open } = await serveTeam(t);
  const long = 'W'.repeat(200);
  const markup = '<img src=x onerror=alert(1)><b>bold</b>';
  const bidi = 'safe \u202Egnihton\u202C \u2067right\u2069';
  const added = await lead.request('tasks', { team: 'alpha', tasks: [{ title: markup, description: `${markup}\n${'\u4f60'.repeat(500)}` }, { title: long, files: [`src/${'f'.repeat(200)}.ts`] }] });
  assert.equal(added.status, 200, JSON.stringify(added.body));
  const marked = await lead.request('tasks', { team: 'alpha', tasks: [{ title: bidi }, { title: 'bell \u0007 and escape \u001b[31m' }] });
  assert.ok([200, 400].includes(marked.status));
  await ann.claim('t2');
  await ann.send('broadcast', `${markup} ${long}\n\u001b[2J${long}`.replaceAll('\u001b', ''), { task_id: 't2', summary: markup.slice(0, 60) });
  for (const width of [360, 1440]) {
    const { page } = await open({ task: 't1' }, { viewport: { width, height: 800 } });
    await waitForVisible(details(page).getByText(markup).first());
    assert.equal(await page.locator('img, #main b, #aside b').count(), 0);
    for (const section of width < 700 ? ['Board', 'Members', 'Messages'] : ['']) {
      if (section) {
        if (await details(page).isVisible()) await page.keyboard.press('Escape');
        await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: section }).click();
      }
      assert.equal(await excessWidth(page), 0, `nothing is wider than the page: ${section} at ${width}`);
      const cut = await page.evaluate(() => [...document.querySelectorAll('#members, #messages .feed-scroller, #task .file-body')].filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.className || each.id));
      assert.deepEqual(cut, [], `no panel scrolls sideways: ${section} at ${width}`);
      await takeScreenshot(page, `board-hostile-${width}${section}`);
    }
  }
});

test('a page without teams shows nothing of them, and asks once; the first team appears by itself', async (t) => {
  const { repository, server, open, openLive } = await serveRepository(t);
  const { page, requests } = await openLive();
  const board = page.locator('#views').getByRole('button', { name: 'Board' });
  await waitForHidden(board);
  await page.keyboard.press('b');
  assert.equal(queryOf(page, 'view'), null);
  const teamRequests = () => requests.filter((url) => /\/api\/(teams\?|messages)/.test(url)).length;
  assert.equal(teamRequests(), 1);
  assert.equal(requests.filter((url) => /\/api\/(teams\/|tasks)/.test(url)).length, 0, 'nothing of a team');
  const { page: direct } = await open({ view: 'board' });
  await waitForVisible(direct.getByText('This repository has no team.'));
  await takeScreenshot(direct, 'board-none');
  const lead = memberOf(server, repository, 'first', 'ada', 'lead');
  await lead.request('teams', { name: 'first' });
  await waitForVisible(board);
  assert.equal(teamRequests(), 2, 'only the list');
  await waitForVisible(direct.getByText('0 open tasks'));
});

test('a server without the routes is asked once; teams that may not be seen ask for a token; a team that is gone says so', async (t) => {
  const { open } = await serveTeam(t);
  const refuse = (/** @type {number} */ status) => async (/** @type {import('playwright-core').BrowserContext} */ context) => {
    await context.route(/\/api\/teams\?/, (route) => route.fulfill({ status, json: { error: status === 404 ? 'UNKNOWN_ROUTE' : 'UNAUTHORIZED', message: 'send a token in Authorization' } }));
  };
  const { page: old, requests } = await open({ view: 'map' }, { prepare: refuse(404), permits: FAILED_REQUEST });
  await waitUntilLive(old);
  await waitForHidden(old.locator('#views').getByRole('button', { name: 'Board' }));
  assert.equal(requests.filter((url) => url.includes('/api/teams')).length, 1);
  const { page: locked } = await open({}, { prepare: refuse(401), permits: FAILED_REQUEST });
  await waitForVisible(locked.getByText('Teams need signing in: they are shown to those who may read the repository.'));
  await locked.locator('#board').getByRole('button', { name: 'Sign in' }).click();
  await waitForVisible(locked.getByRole('dialog'));
  const { page: gone } = await open({ team: 'gone' });
  await waitForVisible(gone.getByText('There is no team "gone".'));
});

test('a board whose server is gone says as of when it is, and is right again when the server is back', async (t) => {
  const { server, members: [lead, ann], open } = await serveTeam(t);
  await lead.add([{ title: 'Pool the connections' }]);
  const { page } = await open({}, { permits: FAILED_REQUEST });
  await waitForVisible(card(page, 'Ready', 't1'));
  await server.kill();
  await waitForVisible(page.getByRole('button', { name: /^(Reconnecting|Offline)/ }));
  await waitForVisible(page.getByRole('region', { name: 'Notices' }).getByText(/Last updated/));
  await waitForVisible(card(page, 'Ready', 't1'));
  await server.start();
  await ann.claim('t1');
  await waitForVisible(page.getByRole('button', { name: /^Live/ }));
  await waitForVisible(card(page, 'In progress', 't1').getByText('ann-1'));
});

for (const [width, height] of [[360, 740], [820, 1100], [1440, 900], [3840, 2160]]) {
  test(`the board of a busy team fits at ${width} by ${height}`, async (t) => {
    const { open } = await serveTeam(t, { isBusy: true });
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const { page } = await open({}, { viewport: { width, height }, colorScheme, reducedMotion: 'reduce' });
      await waitForVisible(card(page, 'In progress', 't2'));
      await waitForVisible(page.getByText('Top blockers'));
      assert.equal(await excessWidth(page), 0);
      await takeScreenshot(page, `board-${width}-${colorScheme}`);
    }
  });
}
