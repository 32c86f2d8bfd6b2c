// Intents and the ledger on the page: what is shown, what follows the events, and what is not asked for. The answers of the routes are
// played; all else is the real server.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FAILED_REQUEST, lightOfMap, openPage, queryOf, takeScreenshot, waitForHidden, waitForVisible, waitUntil } from '../harness/browser.mjs';
import { grant, ledgerOf, lineOf, playIntents, POOL, refusal, someIntents, someLines } from '../harness/intents.mjs';
import { serveRepository } from '../harness/served_repository.mjs';

/** @typedef {import('playwright-core').Page} Page */

/**
 * @param {import('node:test').TestContext} t
 * @param {Parameters<typeof playIntents>[1]} [answers]
 * @param {Parameters<typeof openPage>[2] & { more?: Record<string, string> }} [options] `more`: of the address.
 */
async function openWithIntents(t, answers = { intents: someIntents(), ledger: ledgerOf(someLines(300), 120) }, { more, ...options } = {}) {
  const { openLive } = await serveRepository(t);
  /** @type {Awaited<ReturnType<typeof playIntents>> | null} */
  let played = null;
  const { page } = await openLive(more, { ...options, prepare: async (context) => void (played = await playIntents(context, answers)) });
  return { page, played: /** @type {Awaited<ReturnType<typeof playIntents>>} */ (/** @type {unknown} */ (played)) };
}

/** @param {Page} page */
const panel = (page) => page.getByRole('region', { name: 'Intents', exact: true });
/** @param {Page} page @param {string} id */
const row = (page, id) => panel(page).locator(`li[data-intent="${id}"]`);
/** @param {Page} page @param {string} name */
const tab = (page, name) => page.locator('.aside-tabs').getByRole('button', { name: new RegExp(`^${name}`) });
/** @param {Page} page */
const ledger = (page) => page.getByRole('region', { name: 'Ledger', exact: true });
/** @param {Page} page */
const lines = (page) => page.getByRole('region', { name: 'Ledger, the newest first' }).getByRole('listitem');

test('each intent has its status, criteria, budget, files and workers; those that ended are folded', async (t) => {
  const { page, played } = await openWithIntents(t);
  await tab(page, 'Intents 4').click();
  const pool = row(page, POOL);
  await waitForVisible(pool.getByText('In progress'));
  await waitForVisible(pool.getByText('12 of 50'));
  assert.equal(await pool.getByRole('meter', { name: 'Tokens' }).getAttribute('aria-valuenow'), '345678');
  await waitForVisible(pool.getByText('345,678 of 400,000: 86 % spent'));
  await waitForVisible(pool.getByText(/^Last active \d+ s ago/));
  await pool.getByText('1 of 3 criteria met').click();
  await waitForVisible(pool.getByText('npm test: 214 passed (ada/claude-1)'));
  await pool.getByText('Scope and rules').click();
  await waitForVisible(pool.getByText('app/[tenant]/page.tsx'));
  await waitForVisible(pool.getByText('No new dependency'));

  const blocked = row(page, 'REQ-CATALOG-007');
  await waitForVisible(blocked.getByText('The budget is spent: 30 of 30 turns.'));
  await waitForVisible(blocked.getByText('30 of 30: spent'));
  await waitForVisible(blocked.getByText('51,000, no limit'));
  await waitForVisible(blocked.locator('.intent-worker[title="grace/codex-2"]'));
  await waitForVisible(blocked.getByText('on feature/search-by-several-words').first());
  await waitForVisible(row(page, 'INT-003').getByText('Widens'));
  await waitForVisible(row(page, 'test-intent-1').getByText('Missing: name, description, owned_scope, acceptance_criteria.'));
  const order = await panel(page).locator('.intent-list').first().locator('> li').evaluateAll((all) => all.map((each) => each.dataset.intent));
  assert.deepEqual(order, [POOL, 'REQ-CATALOG-007', 'INT-003', 'test-intent-1']);

  await waitForHidden(row(page, 'INT-002').getByText('Abandoned'));
  await panel(page).getByText('2 intents ended').click();
  await waitForVisible(row(page, 'INT-002').getByText('Too much for what it brings.'));
  await waitForVisible(row(page, 'INT-001').getByText('Completed', { exact: true }));
  assert.equal(played.requests.length, 1, `${played.requests}`);
  await takeScreenshot(page, 'intents');
});

test('a selected intent marks its files on the map, is part of the address, and is left with Escape', async (t) => {
  const { page } = await openWithIntents(t);
  const dark = await lightOfMap(page);
  await tab(page, 'Intents').click();
  await row(page, POOL).getByRole('button', { name: 'Connection pooling' }).click();
  await waitUntil(async () => (await lightOfMap(page)) > dark, 'the files are marked');
  await waitForVisible(page.getByRole('list', { name: 'What the marks of cells mean' }).getByText('Owned by the intent'));
  assert.equal(queryOf(page, 'intent'), POOL);
  await takeScreenshot(page, 'intents-selected');

  await row(page, POOL).getByText('3 owned files').click();
  await row(page, POOL).getByRole('button', { name: 'src/money.ts' }).click();
  const details = page.locator('#file');
  await waitForVisible(details.getByText('money.ts').first());
  await waitForVisible(details.getByText('Owned by'));
  const top = await details.evaluate((element) => element.contains(document.elementFromPoint(element.getBoundingClientRect().left + 30, element.getBoundingClientRect().top + 20)));
  assert.ok(top, 'nothing lies over the details');
  assert.equal(queryOf(page, 'file'), 'src/money.ts');
  await takeScreenshot(page, 'intents-file');
  await page.keyboard.press('Escape');
  await waitForHidden(details);
  await page.keyboard.press('Escape');
  await waitUntil(async () => (await lightOfMap(page)) === dark, 'nothing is marked any more');
  assert.equal(queryOf(page, 'intent'), null);
  await page.goBack();
  await waitForVisible(page.getByRole('button', { name: 'Connection pooling', pressed: true }));
});

test('an address with an intent opens with it', async (t) => {
  const { page } = await openWithIntents(t, undefined, { more: { intent: 'INT-001' } });
  await waitForVisible(page.getByRole('button', { name: 'Passwords of twelve characters', pressed: true }));
});

test('refusals by intents are open until their holders get a lock, and the panel follows without a request for each', async (t) => {
  const { page, played } = await openWithIntents(t);
  await tab(page, 'Intents').click();
  played.emit(refusal('linus/cursor', 'SCOPE_VIOLATION', ['docs/api.md']));
  played.emit(refusal('margaret', 'FILE_OWNED', ['src/money.ts'], { action: 'SWITCH_TASK' }));
  played.emit(refusal('linus/cursor', 'SCOPE_VIOLATION', ['docs/cart.md', 'a', 'b', 'c'], { conflict_count: 9 }));
  await waitForVisible(panel(page).getByRole('heading', { name: '2 open refusals' }));
  await waitForVisible(tab(page, 'Intents 4, 2 refused'));
  const linus = panel(page).locator('.refusal').filter({ has: page.locator('[title="linus/cursor"]') });
  await waitForVisible(linus.getByText('outside of the scope of the intent'));
  await waitForVisible(linus.getByText('and 6 more'));
  await waitForVisible(linus.getByText('STOP'));
  await waitForVisible(panel(page).locator('.refusal').filter({ hasText: 'margaret' }).getByRole('button', { name: 'Connection pooling' }));
  await waitForVisible(page.locator('#activity').getByText('owned by another intent'));
  await takeScreenshot(page, 'intents-refused');
  played.emit(grant('linus/cursor', POOL, ['src/payment/charge.ts']));
  await waitForVisible(panel(page).getByRole('heading', { name: '1 open refusal' }));
  await waitForVisible(row(page, POOL).getByText('4 owned files'));
  await waitForVisible(row(page, POOL).locator('.intent-worker[title="linus/cursor"]'));
  assert.equal(played.requests.length, 1, `${played.requests}`);

  played.answers.intents = { ...someIntents(), intents: someIntents().intents.map((each) => (each.id === POOL ? { ...each, status: 'COMPLETED' } : each)) };
  for (const status of ['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED']) {
    played.emit({ type: 'intent_changed', user: 'ada', user_name: 'Ada', intent_id: POOL, status, previous: 'IN_PROGRESS' });
  }
  await waitForVisible(panel(page).getByText('3 intents ended'));
  await waitForVisible(page.locator('#activity').getByText('completes the intent'));
  await waitUntil(() => played.requests.length === 2, 'one read follows');
});

test('the ledger has its newest lines, its seal to copy, where it begins, and older lines on demand', async (t) => {
  const { page, played } = await openWithIntents(t, undefined, { permissions: ['clipboard-read', 'clipboard-write'] });
  assert.deepEqual(played.requests.filter((path) => path.includes('ledger')), [], 'nobody looks at it yet');
  await tab(page, 'Ledger').click();
  await waitForVisible(ledger(page).getByText(/^Sealed: 300 lines, [0-9a-f]{12}$/));
  await waitForVisible(ledger(page).getByText(/^Kept from line 121 on, after [0-9a-f]{12}\.$/));
  assert.equal(await lines(page).count(), 50);
  await waitForVisible(lines(page).first().getByText('changes state'));
  await waitForVisible(ledger(page).getByText(/DENIED Scope Violation: .* is not authorized to edit 'docs\/api\.md'/));
  await ledger(page).getByText(/^Sealed:/).click();
  await waitForVisible(ledger(page).getByText(/^300:[0-9a-f]{64}$/));
  await takeScreenshot(page, 'ledger');
  await ledger(page).getByRole('button', { name: 'Copy the seal' }).click();
  await waitForVisible(ledger(page).getByText('Copied'));
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^300:[0-9a-f]{64}$/);
  await lines(page).first().getByText('Line 300').click();
  await waitForVisible(lines(page).first().getByText(/^\{"timestamp":.*"chain":\{"seq":300/));

  const older = ledger(page).getByRole('button', { name: 'Load older' });
  for (const count of [150, 180]) {
    await waitUntil(async () => {
      if ((await lines(page).count()) >= count) return true;
      // On a busy machine a read may be unanswered, or the button move away below the pointer: its reader clicks again.
      const isIdle = await older.evaluateAll((buttons) => buttons.some((button) => button.ariaBusy !== 'true'));
      if (isIdle) await older.click({ timeout: 2000 }).catch(() => 'Meanwhile it has loaded all.');
      return false;
    }, `${count} lines`, 90_000);
  }
  await waitForVisible(ledger(page).getByText('Nothing older to show.'));

  played.answers.ledger = ledgerOf([...someLines(300), lineOf(301, { result: { status: 'SUCCESS', output_summary: 'The newest of all' } })], 120);
  played.emit(grant('ada/claude-1', POOL, ['src/auth/login.ts']));
  await waitForVisible(lines(page).first().getByText('The newest of all'));
});

test('the ledger is filtered by intent and by file, from where these are shown', async (t) => {
  const { page } = await openWithIntents(t);
  await tab(page, 'Intents').click();
  await row(page, 'REQ-CATALOG-007').getByRole('button', { name: 'In the ledger' }).click();
  await waitForVisible(lines(page).first().getByText('grace'));
  await waitUntil(async () => (await lines(page).count()) === 50, 'lines of the intent are there');
  for (const text of await lines(page).allTextContents()) assert.match(text, /Search by several words/);
  await ledger(page).getByRole('combobox', { name: 'Intent of the lines' }).selectOption({ label: 'Another framework' });
  await waitForVisible(ledger(page).getByText('None of the newest lines match.'));
  await ledger(page).getByRole('button', { name: 'Look further back' }).click();
  await waitForVisible(ledger(page).getByText('No line matches.'));
  await ledger(page).getByRole('combobox', { name: 'Intent of the lines' }).selectOption('');
  await waitForVisible(lines(page).first().getByText('changes state'));

  await row(page, POOL).getByText('3 owned files').click();
  await row(page, POOL).getByRole('button', { name: 'src/auth/login.ts' }).click();
  await page.locator('#file').getByRole('button', { name: 'In the ledger' }).click();
  const chosen = ledger(page).getByRole('button', { name: 'Only the lines of src/auth/login.ts. Show those of all files' });
  await waitForVisible(chosen);
  await waitUntil(async () => (await lines(page).allTextContents()).every((text) => text.includes('src/auth/login.ts')), 'lines of the file alone');
  await takeScreenshot(page, 'ledger-of-a-file');
  await chosen.click();
  await waitForVisible(lines(page).first().getByText('changes state'));
});

test('all of it is reached by the keyboard', async (t) => {
  const { page } = await openWithIntents(t);
  const press = async (/** @type {string} */ key, /** @type {string} */ name) => {
    for (let presses = 0; presses < 80; presses++) {
      await page.keyboard.press('Tab');
      const focused = await page.evaluate(() => (document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '').trim());
      if (focused.startsWith(name)) return page.keyboard.press(key);
    }
    assert.fail(`never focused: ${name}`);
  };
  await press('Enter', 'Intents');
  await press('Enter', 'Connection pooling');
  await waitForVisible(page.getByRole('button', { name: 'Connection pooling', pressed: true }));
  await press('Enter', '1 of 3 criteria');
  await waitForVisible(panel(page).getByText('The pool is documented'));
  await press('Enter', '3 owned files');
  await press('Enter', 'In the ledger');
  await waitForVisible(lines(page).first().getByText('ada/claude-1'));
  await press('Enter', 'Sealed:');
  await waitForVisible(ledger(page).getByText(/^300:[0-9a-f]{64}$/));
});

test('without a credential, the page says that intents need signing in, and asks for the token', async (t) => {
  const { page, played } = await openWithIntents(t, { status: 401 }, { permits: FAILED_REQUEST });
  await tab(page, 'Intents').click();
  await waitForVisible(panel(page).getByText('Intents need signing in: they are shown to those who may read the repository.'));
  await waitForVisible(panel(page).getByText('Send a token in Authorization.'));
  await takeScreenshot(page, 'intents-sign-in');
  await tab(page, 'Ledger').click();
  await ledger(page).getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('dialog', { name: 'Sign in' }).getByRole('textbox', { name: 'Token' }).fill('a token');
  Object.assign(played.answers, { status: 200, intents: someIntents(), ledger: ledgerOf(someLines(3)) });
  await page.getByRole('dialog', { name: 'Sign in' }).getByRole('button', { name: 'Sign in' }).click();
  await waitUntil(async () => (await lines(page).count()) === 3, 'the ledger is shown');
});

for (const [what, answers] of /** @type {const} */ ([['a server without intents', { status: 404 }], ['a repository without intents', {}]])) {
  test(`${what} shows nothing of them, and is asked once`, async (t) => {
    const { page, played } = await openWithIntents(t, answers, { permits: FAILED_REQUEST });
    await waitForVisible(page.getByRole('heading', { name: 'Agents' }));
    await waitForVisible(page.getByRole('heading', { name: 'Activity' }));
    for (const name of ['Intents', 'Ledger']) assert.equal(await page.getByText(name, { exact: true }).filter({ visible: true }).count(), 0);
    played.emit({ ...grant('ada/one', '', ['src/money.ts']), intent_id: undefined });
    await waitForVisible(page.locator('#agents [data-holder="ada/one"]'));
    await page.waitForTimeout(1000);
    assert.equal(played.requests.length, 1, `${played.requests}`);
  });
}

for (const width of [360, 768, 1100, 1440, 1800, 2560]) {
  test(`at ${width} pixels, nothing of intents and ledger is cut off`, async (t) => {
    const { page, played } = await openWithIntents(t, undefined, { viewport: { width, height: 900 } });
    played.emit({ ...grant('ada', 'an-id-of-an-intent-that-has-sixty-four-letters-as-an-id-may-have-x', ['README.md']) });
    played.emit(refusal('somebody-with-a-long-login/and-an-agent-with-a-longer-name', 'INTENT_NOT_ACTIVE', ['src/auth/login.ts']));
    const open = async (/** @type {string} */ name) => {
      if (width < 700) await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name }).click();
      else if (width < 1800) await tab(page, name).click();
    };
    for (const name of ['Intents', 'Ledger']) {
      await open(name);
      const region = name === 'Intents' ? panel(page) : ledger(page);
      await waitForVisible(region);
      await waitForVisible(name === 'Intents' ? region.getByText('somebody-with-a-long-login') : lines(page));
      await region.locator('details').evaluateAll((all) => all.slice(0, 6).forEach((each) => (/** @type {HTMLDetailsElement} */ (each).open = true)));
      await page.waitForTimeout(100);
      const wide = await region.evaluate((element) => [element, ...element.querySelectorAll('*')]
        .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0 && !each.closest('.path, .unseen') && getComputedStyle(each).display !== 'inline')
        .map((each) => `${each.className}: ${each.textContent?.slice(0, 60)}`));
      assert.deepEqual(wide, []);
      await takeScreenshot(page, `${name.toLowerCase()}-${width}`);
    }
  });
}
