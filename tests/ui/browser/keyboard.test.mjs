// The page by keyboard alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lightOfMap, lockedFile, queryOf, takeScreenshot, waitForHidden, waitForVisible, waitUntil } from '../harness/browser.mjs';
import { serveRepository } from '../harness/served_repository.mjs';

/** @typedef {import('playwright-core').Page} Page */

/** @param {import('node:test').TestContext} t */
async function openBusyPage(t) {
  const { agent, openLive } = await serveRepository(t);
  await agent('ada', 'one').write('src/auth/login.ts', 'Moving the login to passkeys');
  await agent('bob', 'two').read('src/money.ts', 'Reading how money is rounded');
  const { page } = await openLive();
  await waitForVisible(lockedFile(page, 'src/auth/login.ts'));
  return page;
}

/** The element that has the focus, and whether the focus is visible. @param {Page} page */
function focusedElement(page) {
  return page.evaluate(() => {
    const element = /** @type {HTMLElement} */ (document.activeElement);
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    const around = element.parentElement ? getComputedStyle(element.parentElement) : null;
    const isVisible = (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none' || (around?.outlineStyle ?? 'none') !== 'none';
    const { width, height } = element.getBoundingClientRect();
    return { name: element.getAttribute('aria-label') ?? element.textContent?.trim() ?? '', id: element.id, tag: element.tagName, isVisible, width, height, slot: element.closest('[id]')?.id ?? '' };
  });
}

test('the tab key reaches everything in the order of the page, locked files too, and the focus is always visible', async (t) => {
  const page = await openBusyPage(t);
  const met = [];
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press('Tab');
    const now = await focusedElement(page);
    if (now.tag === 'BODY' || (met.length > 0 && now.name === met[0].name)) break;
    assert.ok(now.isVisible, `focus is visible: ${JSON.stringify(now)}`);
    assert.ok(now.width > 0 && now.height > 0, `it has a size: ${JSON.stringify(now)}`);
    met.push(now);
  }
  const names = met.map(({ name }) => name);
  const placeOf = (/** @type {RegExp} */ pattern) => names.findIndex((name) => pattern.test(name));
  const order = [/^Skip to the files/, /^Coord/, /acme\/shop/, /^Search/, /^Map$/, /^Table$/, /^Live/, /^Help/, /login\.ts, WRITING by one \(ada\)/, /money\.ts, READING by two \(bob\)/, /^Agent$/, /^Activity, the newest/];
  const places = order.map(placeOf);
  assert.ok(!places.includes(-1), `all are reached: ${names.join(' | ')}`);
  assert.deepEqual(places, [...places].sort((a, b) => a - b), `in order: ${names.join(' | ')}`);
});

test('a locked file opens by keyboard; Escape closes the details and gives the focus back', async (t) => {
  const page = await openBusyPage(t);
  await lockedFile(page, 'src/auth/login.ts').focus();
  await takeScreenshot(page, 'focus-locked-file');
  await page.keyboard.press('Enter');
  await waitForVisible(page.locator('#file').getByRole('heading', { name: 'login.ts' }));
  assert.equal((await focusedElement(page)).slot, 'file');
  await page.keyboard.press('Escape');
  await waitForHidden(page.locator('#file'));
  assert.match((await focusedElement(page)).name, /^src\/auth\/login\.ts, WRITING/);
});

test('a search finds a file by its letters, moves by arrows, opens by Enter and clears by Escape', async (t) => {
  const page = await openBusyPage(t);
  await page.keyboard.press('/');
  await page.keyboard.type('paym');
  const options = page.getByRole('listbox', { name: 'Matches' }).getByRole('option');
  await waitForVisible(options);
  await takeScreenshot(page, 'search');
  const search = page.getByRole('combobox', { name: /^Search/ });
  const first = await search.getAttribute('aria-activedescendant');
  await page.keyboard.press('ArrowDown');
  assert.notEqual(await search.getAttribute('aria-activedescendant'), first);
  await page.keyboard.press('ArrowUp');
  const title = (await page.locator(`#${first}`).getAttribute('title')) ?? '';
  assert.match(title, /payment/);
  await page.keyboard.press('Enter');
  await waitForVisible(page.locator('#file').filter({ visible: true }));
  await waitUntil(() => title.startsWith(queryOf(page, 'file') ?? '?') , 'the address has the file');
  await page.keyboard.press('/');
  await page.keyboard.type('nothing like that');
  await waitForVisible(page.getByText('No file, folder or holder matches.'));
  await page.keyboard.press('Escape');
  assert.equal(await search.inputValue(), '');
});

test('plus and minus zoom, 0 shows everything, m and t change the view, ? helps', async (t) => {
  const page = await openBusyPage(t);
  const fit = page.getByRole('button', { name: 'Fit' });
  assert.ok(await fit.isDisabled());
  const light = await lightOfMap(page);
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  await waitUntil(() => fit.isEnabled(), 'it is zoomed in');
  await waitUntil(async () => Math.abs((await lightOfMap(page)) - light) > 500, 'what is drawn changes');
  await page.keyboard.press('-');
  await page.keyboard.press('0');
  await waitUntil(() => fit.isDisabled(), 'everything is shown');

  await page.keyboard.press('t');
  await waitForVisible(page.getByRole('region', { name: 'Table of files' }));
  assert.equal(queryOf(page, 'view'), 'table');
  await page.keyboard.press('m');
  await waitForVisible(page.getByRole('img', { name: /^Map of 27 files/ }));

  const help = page.getByRole('dialog', { name: 'Help' });
  await page.getByRole('button', { name: 'Help' }).click();
  await waitForVisible(help.getByRole('heading', { name: 'The rules of this branch' }));
  assert.ok(await help.locator('.help-rules li').count() > 0, 'the button opens the help with its rules');
  await page.keyboard.press('Escape');
  await waitForHidden(help);
  await page.keyboard.press('?');
  await waitForVisible(help.getByText('coord init'));
  await takeScreenshot(page, 'help');
  await page.keyboard.press('t');
  assert.equal(queryOf(page, 'view'), null, 'the keys of the page rest while the help is open');
  await page.keyboard.press('Escape');
  await waitForHidden(help);
});

test('arrows select files on the map, and move between the rows of the table', async (t) => {
  const page = await openBusyPage(t);
  await page.keyboard.press('ArrowRight');
  await waitUntil(() => queryOf(page, 'file') !== null, 'a file is selected');
  const first = queryOf(page, 'file');
  await page.keyboard.press('ArrowDown');
  await waitUntil(() => queryOf(page, 'file') !== first, 'another file is selected');
  await takeScreenshot(page, 'map-selected');
  await page.keyboard.press('Escape');
  await waitUntil(() => queryOf(page, 'file') === null, 'nothing is selected');

  await page.keyboard.press('t');
  const table = page.getByRole('region', { name: 'Table of files' });
  await table.focus();
  await page.keyboard.press('ArrowDown');
  const { name } = await focusedElement(page);
  await page.keyboard.press('ArrowDown');
  const next = await focusedElement(page);
  assert.notEqual(next.name, name);
  assert.ok(next.isVisible);
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await waitUntil(() => queryOf(page, 'file') !== null, 'the row opens its file');
});

test('the table sorts by its headers, and says so', async (t) => {
  const page = await openBusyPage(t);
  await page.keyboard.press('t');
  const first = page.getByRole('table').getByRole('row').nth(1);
  await waitForVisible(first.getByText('login.ts'));
  const header = page.getByRole('columnheader', { name: 'Importers' });
  await header.getByRole('button').focus();
  await page.keyboard.press('Enter');
  assert.equal(await header.getAttribute('aria-sort'), 'descending');
  await waitForVisible(page.getByRole('table').getByRole('row').nth(1).getByRole('button', { name: 'db.ts' }));
  await page.keyboard.press('Enter');
  assert.equal(await header.getAttribute('aria-sort'), 'ascending');
  await page.getByRole('switch', { name: /^Only locked/ }).press(' ');
  await waitUntil(async () => (await page.getByRole('table').getByRole('row').count()) < 12, 'only locked files and neighbors are left');
  await takeScreenshot(page, 'table-only-locked');
});
