// Opens pages in Chromium. A test fails if its page logs an error, sends a request to another origin, or violates the policy.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after } from 'node:test';

import { chromium } from 'playwright-core';

import { addCleanup } from './cleanup.mjs';
import { LAUNCH, SCREENSHOTS } from './launch.mjs';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').Locator} Locator */

const PATIENCE_MS = 30_000;
/** Messages of Chromium on the console about a request without a response, or with an error. */
export const FAILED_REQUEST = /^Failed to load resource|^WebSocket connection to/;

/** @type {Promise<import('playwright-core').Browser> | null} */
let browserPromise = null;

/** Connects to the browser that `run.mjs` has started, or starts one for this file. */
function browser() {
  browserPromise ??= process.env.COORD_UI_BROWSER ? chromium.connect(process.env.COORD_UI_BROWSER) : chromium.launch(LAUNCH);
  return browserPromise;
}
after(async () => (await browserPromise)?.close());

/**
 * @typedef {object} OpenedPage
 * @property {Page} page
 * @property {string[]} requests Addresses of all requests, in their order.
 * @property {import('playwright-core').Request[]} sent
 * @property {string[]} frames Texts that the page sent over WebSockets.
 */

/**
 * Opens an address in a context of its own.
 * @param {import('node:test').TestContext} t
 * @param {string} address
 * @param {import('playwright-core').BrowserContextOptions & { permits?: RegExp, prepare?: (context: import('playwright-core').BrowserContext) => Promise<unknown> }} [options] `permits`: errors on
 *   the console that the test causes; `prepare`: called before the page is opened.
 * @returns {Promise<OpenedPage>}
 */
export async function openPage(t, address, { permits, prepare, ...options } = {}) {
  const { origin } = new URL(address);
  const context = await (await browser()).newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const faults = /** @type {string[]} */ ([]);
  const requests = /** @type {string[]} */ ([]);
  const sent = /** @type {import('playwright-core').Request[]} */ ([]);
  const frames = /** @type {string[]} */ ([]);
  context.on('request', (request) => {
    requests.push(request.url());
    sent.push(request);
    if (new URL(request.url()).origin !== origin) faults.push(`a request off-origin: ${request.url()}`);
  });
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => console.error(`policy: ${violatedDirective} ${blockedURI}`));
  });
  await prepare?.(context);
  const page = await context.newPage();
  page.on('websocket', (socket) => {
    requests.push(socket.url());
    if (new URL(socket.url()).host !== new URL(origin).host) faults.push(`a WebSocket off-origin: ${socket.url()}`);
    socket.on('framesent', ({ payload }) => frames.push(String(payload)));
  });
  page.on('console', (message) => {
    const text = message.text();
    if (['error', 'warning'].includes(message.type()) && !permits?.test(text)) faults.push(`console: ${text} (${message.location().url})`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.stack ?? error}`));
  addCleanup(t, async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
  await page.goto(address);
  return { page, requests, sent, frames };
}

/**
 * The address of a branch on the page.
 * @param {{ url: string }} server
 * @param {{ repoUrl: string }} repository
 * @param {Record<string, string>} [more]
 */
export function addressOf(server, repository, more = {}) {
  return `${server.url}?${new URLSearchParams({ repo_url: repository.repoUrl, branch: 'main', ...more })}`;
}

/** A parameter of the page's address. @param {Page} page @param {string} name */
export const queryOf = (page, name) => new URL(page.url()).searchParams.get(name);

/** Pixels by which the document is wider than the window. @param {Page} page */
export function excessWidth(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** Waits until the page follows the events, and shows the graph. @param {Page} page */
export async function waitUntilLive(page) {
  await waitForVisible(page.getByRole('button', { name: /^Live/ }));
  await waitForVisible(page.locator('#map, #table').filter({ visible: true }).first());
  await waitUntil(async () => /[1-9][\d,]* files?/.test((await page.locator('canvas[role=img]').getAttribute('aria-label')) ?? ''), 'the map has files');
}

/** @param {Locator} locator */
export async function waitForVisible(locator) {
  await locator.first().waitFor({ state: 'visible' });
}

/** @param {Locator} locator */
export async function waitForHidden(locator) {
  await locator.first().waitFor({ state: 'hidden' });
}

/**
 * Waits until a condition is met.
 * @param {() => unknown} condition
 * @param {string} description
 * @param {number} [patience]
 */
export async function waitUntil(condition, description, patience = PATIENCE_MS) {
  for (const end = Date.now() + patience; !(await condition()); ) {
    assert.ok(Date.now() < end, `never: ${description}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** Takes a screenshot for reviewers. @param {Page} page @param {string} name */
export async function takeScreenshot(page, name) {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}${name}.png` });
}

/** The button of a locked file under the map. @param {Page} page @param {string} path */
export function lockedFile(page, path) {
  return page.locator('#locked').getByRole('button', { name: new RegExp(`^${path.replace(/[.\\/]/g, '\\$&')}, (WRITING|READING) by`) });
}

/** Finds the row of a holder. @param {Page} page @param {string} holder */
export function agentRow(page, holder) {
  return page.locator(`#agents [data-holder="${holder}"]`);
}

/** Opens the details of a holder; returns its row. @param {Page} page @param {string} holder */
export async function openAgent(page, holder) {
  const row = agentRow(page, holder);
  await row.getByRole('button', { name: /^Details of/, expanded: false }).click();
  return row;
}

/**
 * How strongly the map is lit by locks: the sum of the opacities of the layer that has their marks.
 * @param {Page} page
 * @returns {Promise<number>}
 */
export function lightOfMap(page) {
  return page.evaluate(() => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('canvas.map-marks'));
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (copy.getContext('2d', { willReadFrequently: true }));
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let light = 0;
    for (let alpha = 3; alpha < data.length; alpha += 4) light += data[alpha] / 255;
    return light;
  });
}
