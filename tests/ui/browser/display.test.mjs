// The page on every kind of screen, for every kind of eyes, and on paper.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';

import { excessWidth, lightOfMap, lockedFile, takeScreenshot, waitForHidden, waitForVisible, waitUntil, waitUntilLive } from '../harness/browser.mjs';
import { SCREENSHOTS } from '../harness/launch.mjs';
import { busyRepository, openBusy } from '../harness/scene.mjs';
import { busyTeam } from '../harness/teams.mjs';

/** @typedef {import('playwright-core').Page} Page */

/** Buttons and fields that are visible, but partly outside of the window. @param {Page} page */
function findCutOffControls(page) {
  return page.evaluate(() => {
    const inScroller = (/** @type {Element} */ element) => {
      for (let each = element.parentElement; each && each !== document.body; each = each.parentElement) {
        if (/auto|scroll|hidden|clip/.test(getComputedStyle(each).overflowX)) return true;
      }
      return false;
    };
    return [...document.querySelectorAll('button, input, select, a')].filter((element) => element.checkVisibility() && !inScroller(element) && !element.matches('.skip'))
      .filter((element) => {
        const { left, right, width } = element.getBoundingClientRect();
        return width > 0 && (left < -1 || right > innerWidth + 1);
      }).map((element) => element.getAttribute('aria-label') ?? element.textContent);
  });
}

/** Words in the cells of tables that go on in another line: letters, digits and underscores belong together. @param {Page} page */
function findSplitWords(page) {
  return page.evaluate(() => [...document.querySelectorAll('.windowed :is(th, td)')].filter((cell) => cell.checkVisibility()).flatMap((cell) => {
    const split = /** @type {string[]} */ ([]);
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      for (const { 0: word, index } of (text.nodeValue ?? '').matchAll(/[\p{L}\p{N}_]+/gu)) {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        const tops = [...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top));
        if (new Set(tops).size > 1) split.push(`${word} (${cell.className})`);
      }
    }
    return split;
  }));
}

for (const width of [360, 768, 1440]) {
  test(`at ${width} pixels, no word of the tables is split`, async (t) => {
    const { repository, server, address } = await busyRepository(t);
    await busyTeam(server, repository);
    const page = await openBusy(t, address, { viewport: { width, height: 900 } });
    await page.getByRole('button', { name: 'Table' }).click();
    await waitForVisible(page.getByRole('cell', { name: 'Moving the login to passkeys' }));
    assert.deepEqual(await findSplitWords(page), []);
    await takeScreenshot(page, `table-${width}`);
    await page.goto(`${address}&view=tasks`);
    await waitForVisible(page.getByRole('button', { name: 'Sessions by passkey' }));
    assert.deepEqual(await findSplitWords(page), []);
    await takeScreenshot(page, `table-of-tasks-${width}`);
    // What is looked for is found where it is so.
    await page.locator('.windowed td').evaluateAll((cells) => {
      for (const { style } of /** @type {HTMLElement[]} */ (cells)) Object.assign(style, { whiteSpace: 'normal', overflowWrap: 'anywhere', fontSize: '40px' });
    });
    assert.notDeepEqual(await findSplitWords(page), []);
  });
}

test('at 360 pixels, files, agents, activity and details are each reached, and nothing is cut off', async (t) => {
  const { address } = await busyRepository(t);
  const page = await openBusy(t, address, { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true });
  const sections = page.getByRole('navigation', { name: 'Sections' });
  const check = async (/** @type {string} */ name) => {
    assert.equal(await excessWidth(page), 0, `${name}: nothing beside the window`);
    assert.deepEqual(await findCutOffControls(page), [], name);
    await takeScreenshot(page, name);
  };
  await check('narrow-map');
  await sections.getByRole('button', { name: 'Agents' }).click();
  await waitForVisible(page.locator('#agents').getByText('Moving the login to passkeys'));
  await check('narrow-agents');
  await sections.getByRole('button', { name: 'Activity' }).click();
  await waitForVisible(page.getByRole('region', { name: 'Activity, the newest first' }));
  await check('narrow-activity');
  await sections.getByRole('button', { name: 'Files' }).click();
  await lockedFile(page, 'src/auth/login.ts').click();
  await waitForVisible(page.locator('#file').getByRole('heading', { name: 'login.ts' }));
  await check('narrow-details');
  await page.getByRole('button', { name: 'Close the details' }).click();
  await page.getByRole('button', { name: 'Table' }).click();
  await waitForVisible(page.getByRole('region', { name: 'Table of files' }));
  await check('narrow-table');
});

test('at 200 % zoom, everything is there', async (t) => {
  const { address } = await busyRepository(t);
  // A window of 1280 pixels at 200 %.
  const page = await openBusy(t, address, { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 });
  assert.equal(await excessWidth(page), 0);
  assert.deepEqual(await findCutOffControls(page), []);
  const { height } = (await page.getByRole('img', { name: /^Map of/ }).boundingBox()) ?? { height: 0 };
  assert.ok(height >= 120, `the map is ${height} pixels high`);
  await takeScreenshot(page, 'zoom-200');
});

test('at 4K, the page fills the screen', async (t) => {
  const { address } = await busyRepository(t);
  const page = await openBusy(t, address, { viewport: { width: 3840, height: 2160 } });
  const { width, height } = (await page.getByRole('img', { name: /^Map of/ }).boundingBox()) ?? { width: 0, height: 0 };
  assert.ok(width > 2800 && height > 1900, `the map is ${width} by ${height}`);
  await takeScreenshot(page, 'screen-4k');
});

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  test(`the page is ${colorScheme} where the system is`, async (t) => {
    const { address } = await busyRepository(t);
    const page = await openBusy(t, address, { colorScheme });
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const [red] = /\d+/.exec(ground) ?? [];
    assert.ok(colorScheme === 'light' ? Number(red) > 200 : Number(red) < 60, ground);
    await takeScreenshot(page, `theme-${colorScheme}`);
    await page.getByRole('button', { name: 'Table' }).click();
    await waitForVisible(page.getByRole('region', { name: 'Table of files' }));
    await takeScreenshot(page, `theme-${colorScheme}-table`);
    await page.emulateMedia({ colorScheme: colorScheme === 'light' ? 'dark' : 'light' });
    await waitUntil(async () => (await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) !== ground, 'it follows the system');
  });
}

test('with reduced motion, nothing moves by itself: a lock is lit and dark at once, and the map jumps', async (t) => {
  const { address, agent } = await busyRepository(t);
  const page = await openBusy(t, address, { reducedMotion: 'reduce' });
  await page.waitForTimeout(500);
  const still = await lightOfMap(page);
  await page.waitForTimeout(300);
  assert.equal(await lightOfMap(page), still);
  await agent('grace').release('docs/deploy.md');
  await waitForHidden(lockedFile(page, 'docs/deploy.md'));
  // The first change that is seen is the whole of it, however late a loaded machine draws it.
  let dark = still;
  await waitUntil(async () => (dark = await lightOfMap(page)) !== still, 'the light goes out');
  assert.ok(dark < still);
  await page.waitForTimeout(500);
  assert.equal(await lightOfMap(page), dark);
  await page.keyboard.press('+');
  let zoomed = dark;
  await waitUntil(async () => (zoomed = await lightOfMap(page)) !== dark, 'the map is zoomed');
  await page.waitForTimeout(400);
  assert.equal(await lightOfMap(page), zoomed);
  const animations = await page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length);
  assert.equal(animations, 0);
});

/** The marks of cells, next to each other, as pixels without color. @param {Page} page */
async function legendShapes(page) {
  await waitForVisible(page.getByRole('list', { name: 'What the marks of cells mean' }).getByRole('listitem').locator('span'));
  return page.evaluate(() => [...document.querySelectorAll('.map-legend .map-key')].map((key) => getComputedStyle(key))
    .map((style) => [style.borderStyle, style.backgroundImage === 'none', style.backgroundColor].join(' ')));
}

for (const type of /** @type {const} */ (['protanopia', 'deuteranopia', 'tritanopia', 'achromatopsia'])) {
  test(`writing, reading, neighbors and owned files look different with ${type}`, async (t) => {
    const { address } = await busyRepository(t);
    const page = await openBusy(t, address);
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setEmulatedVisionDeficiency', { type });
    assert.equal(new Set(await legendShapes(page)).size, 5);
    for (const [path, icon] of [['src/auth/login.ts', 'pencil'], ['src/money.ts', 'eye']]) {
      assert.match((await lockedFile(page, path).locator('use').first().getAttribute('href')) ?? '', new RegExp(`${icon}$`));
    }
    await takeScreenshot(page, `vision-${type}`);
  });
}

test('with forced colors, everything can still be seen', async (t) => {
  const { address } = await busyRepository(t);
  const page = await openBusy(t, address, { forcedColors: 'active' });
  assert.equal(new Set(await legendShapes(page)).size, 5);
  await takeScreenshot(page, 'forced-colors');
  await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
  await page.waitForTimeout(200);
  await takeScreenshot(page, 'forced-colors-dark');
});

test('on paper, the page is its table, with every file and the time', async (t) => {
  const { address } = await busyRepository(t);
  const page = await openBusy(t, address);
  const pdf = await page.pdf({ format: 'A4', landscape: true, printBackground: true });
  await takeScreenshot(page, 'map-busy');
  writeFileSync(`${SCREENSHOTS}print.pdf`, pdf);
  const text = pdf.toString('latin1');
  assert.ok(pdf.length > 10_000 && text.startsWith('%PDF'), 'it prints');
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await waitForVisible(page.getByRole('table'));
  assert.ok((await page.getByRole('row').count()) >= 28, 'every file is a row');
  await waitForHidden(page.getByRole('img', { name: /^Map of/ }));
  assert.equal(await page.getByRole('combobox', { name: /^Search/ }).isVisible(), false);
  await takeScreenshot(page, 'print');
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen' });
  await waitUntilLive(page);
});
