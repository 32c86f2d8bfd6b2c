// axe-core finds no violation, in either theme, in every main state.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import { addressOf, FAILED_REQUEST, lockedFile, openAgent, openPage, waitForVisible, waitUntilLive } from '../harness/browser.mjs';
import { ledgerOf, playIntents, POOL, refusal, someIntents, someLines } from '../harness/intents.mjs';
import { busyRepository, openBusy } from '../harness/scene.mjs';
import { serveRepository } from '../harness/served_repository.mjs';
import { busyTeam } from '../harness/teams.mjs';

/** @typedef {import('playwright-core').Page} Page */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** @param {string[]} found What was found so far. @param {Page} page @param {string} where */
async function checkAccessibility(found, page, where) {
  await page.evaluate(`if (!window.axe) { ${AXE} }`);
  // Of rules that pass, axe describes one element and not all, which takes as long as the rules.
  const { violations, passed } = await page.evaluate(() => /** @type {any} */ (window).axe.run(document, {
    preload: false,
    resultTypes: ['violations'],
    runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  }).then((/** @type {any} */ { violations, passes }) => ({ violations, passed: passes.length })));
  assert.ok(passed > 10, `${where}: rules ran`);
  for (const { id, help, nodes } of violations) {
    found.push(`${where}: ${id}: ${help}`, ...nodes.map((/** @type {any} */ node) => `  ${node.target}: ${node.failureSummary}`));
  }
}

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  test(`axe finds nothing on a wide screen, ${colorScheme}`, async (t) => {
    const found = /** @type {string[]} */ ([]);
    const { address, server } = await busyRepository(t);
    const page = await openBusy(t, address, { colorScheme, reducedMotion: 'reduce', permits: FAILED_REQUEST });
    await checkAccessibility(found, page, 'map');
    await lockedFile(page, 'src/auth/login.ts').click();
    await waitForVisible(page.locator('#file').getByText(/claims/));
    await checkAccessibility(found, page, 'details');
    await page.getByRole('button', { name: 'Close the details' }).click();
    await page.keyboard.press('?');
    await waitForVisible(page.getByRole('dialog', { name: 'Help' }));
    await checkAccessibility(found, page, 'help');
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('auth');
    await waitForVisible(page.getByRole('listbox', { name: 'Matches' }));
    await checkAccessibility(found, page, 'search');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Table' }).click();
    await waitForVisible(page.getByRole('region', { name: 'Table of files' }));
    await checkAccessibility(found, page, 'table');
    await page.locator('#views').getByRole('button', { name: 'Time' }).click();
    await waitForVisible(page.getByRole('region', { name: 'Time', exact: true }).getByRole('img'));
    await checkAccessibility(found, page, 'time');
    await (await openAgent(page, 'ada/claude-1')).getByRole('button', { name: /^Release by force/ }).click();
    await waitForVisible(page.locator('#action').getByText(/^Done by/));
    await checkAccessibility(found, page, 'an action');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /acme\/shop/ }).click();
    await waitForVisible(page.getByRole('textbox', { name: 'Repository' }));
    await checkAccessibility(found, page, 'picker');
    await page.keyboard.press('Escape');
    await server.kill();
    await waitForVisible(page.getByRole('button', { name: /^Reconnecting/ }));
    await waitForVisible(page.getByRole('region', { name: 'Notices' }).getByText(/Last updated/));
    await checkAccessibility(found, page, 'reconnecting');
    assert.equal(found.join('\n'), '');
  });

  for (const width of [1440, 1920, 360]) {
    test(`axe finds nothing in the intents and the ledger at ${width} pixels, ${colorScheme}`, async (t) => {
      const found = /** @type {string[]} */ ([]);
      const { address } = await busyRepository(t);
      /** @type {any} */
      let played;
      const answers = { intents: someIntents(), ledger: ledgerOf(someLines(60), 10), status: 200 };
      const prepare = async (/** @type {any} */ context) => void (played = await playIntents(context, answers));
      const { page } = await openPage(t, `${address}&intent=${POOL}`, { colorScheme, reducedMotion: 'reduce', viewport: { width, height: 900 }, permits: FAILED_REQUEST, prepare });
      await waitUntilLive(page);
      played.emit(refusal('linus/cursor', 'SCOPE_VIOLATION', ['docs/api.md']));
      const tabs = page.locator(width < 700 ? '#sections' : '.aside-tabs');
      const open = async (/** @type {string} */ name) => {
        if (width < 1800) await tabs.getByRole('button', { name: new RegExp(`^${name}`) }).click();
      };
      await open('Intents');
      await page.getByRole('heading', { name: '1 open refusal' }).waitFor();
      await checkAccessibility(found, page, 'intents');
      const unfold = () => page.locator('#intents details, #ledger details').evaluateAll((all) => all.forEach((each) => (/** @type {HTMLDetailsElement} */ (each).open = true)));
      await unfold();
      await waitForVisible(page.getByText('Too much for what it brings.'));
      await checkAccessibility(found, page, 'intents, unfolded');
      await open('Ledger');
      await waitForVisible(page.getByText(/^Sealed: 60 lines/));
      await unfold();
      await checkAccessibility(found, page, 'ledger, unfolded');
      answers.status = 401;
      played.emit({ type: 'intent_changed', user: 'ada', user_name: 'Ada', intent_id: POOL, status: 'BLOCKED', previous: 'IN_PROGRESS' });
      await waitForVisible(page.getByText('The ledger needs signing in: it is shown to those who may read the repository.'));
      await checkAccessibility(found, page, 'signing in for the ledger');
      assert.equal(found.join('\n'), '');
    });
  }

  for (const width of [1440, 360]) {
    test(`axe finds nothing on the board of a team at ${width} pixels, ${colorScheme}`, async (t) => {
      const found = /** @type {string[]} */ ([]);
      const { repository, server, open } = await serveRepository(t);
      await busyTeam(server, repository);
      const { page } = await open({ view: 'board' }, { colorScheme, reducedMotion: 'reduce', viewport: { width, height: 900 } });
      await waitForVisible(page.getByRole('region', { name: 'In progress' }).getByText('Sessions by passkey'));
      await checkAccessibility(found, page, 'board');
      for (const section of width < 700 ? ['Members', 'Messages'] : []) {
        await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: section }).click();
        await checkAccessibility(found, page, section);
      }
      await page.goto(addressOf(server, repository, { view: 'tasks', task: 't16', team: 'alpha' }));
      await waitForVisible(page.locator('#task').getByText(/^Waits for 2 tasks\./));
      await checkAccessibility(found, page, 'table of tasks, with a task');
      await page.goto(addressOf(server, repository, { view: 'board', team: 'none' }));
      await waitForVisible(page.getByText('There is no team "none".'));
      await checkAccessibility(found, page, 'no team');
      assert.equal(found.join('\n'), '');
    });
  }

  test(`axe finds nothing at 360 pixels, on the start view and in a state without files, ${colorScheme}`, async (t) => {
    const found = /** @type {string[]} */ ([]);
    const { address, server } = await busyRepository(t);
    const page = await openBusy(t, address, { colorScheme, reducedMotion: 'reduce', viewport: { width: 360, height: 740 } });
    await checkAccessibility(found, page, 'map at 360 pixels');
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Agents' }).click();
    await checkAccessibility(found, page, 'agents at 360 pixels');
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Activity' }).click();
    await checkAccessibility(found, page, 'activity at 360 pixels');
    const { page: start } = await openPage(t, server.url, { colorScheme });
    await waitForVisible(start.getByRole('navigation', { name: 'Served here' }));
    await checkAccessibility(found, start, 'start');
    const { page: none } = await openPage(t, `${server.url}?repo_url=https://github.com/acme/none`, { colorScheme, permits: FAILED_REQUEST });
    await waitForVisible(none.getByText('No such repository').first());
    await checkAccessibility(found, none, 'no repository');
    assert.equal(found.join('\n'), '');
  });
}
