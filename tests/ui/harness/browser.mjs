// Chromium, and pages in it that fail their test by whatever they should not do: an error on the console, a request to another origin, a
// violation of the policy.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after } from 'node:test';

import { chromium } from 'playwright-core';

import { atEnd } from './ending.mjs';
import { LAUNCH, SCREENSHOTS } from './launch.mjs';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').Locator} Locator */

const PATIENCE_MS = 30_000;
/** What Chromium itself says of a request that has no answer, or one with an error. */
export const FAILED_REQUEST = /^Failed to load resource|^WebSocket connection to/;

/** @type {Promise<import('playwright-core').Browser> | null} */
let launched = null;

/** The browser of the whole run, which `run.mjs` starts; or one for this file. */
function browser() {
  launched ??= process.env.COORD_UI_BROWSER ? chromium.connect(process.env.COORD_UI_BROWSER) : chromium.launch(LAUNCH);
  return launched;
}
after(async () => (await launched)?.close());

/**
 * @typedef {object} Opened
 * @property {Page} page
 * @property {string[]} requests Addresses of all requests, in their order.
 * @property {import('playwright-core').Request[]} sent
 * @property {string[]} frames What the page sent over WebSockets.
 */

/**
 * Opens an address in a context of its own.
 * @param {import('node:test').TestContext} t
 * @param {string} address
 * @param {import('playwright-core').BrowserContextOptions & { permits?: RegExp, prepare?: (context: import('playwright-core').BrowserContext) => Promise<unknown> }} [options] `permits`: errors of
 *   the console that the test causes; `prepare`: what is done before the page is opened.
 * @returns {Promise<Opened>}
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
  atEnd(t, async () => {
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
export async function live(page) {
  await shows(page.getByRole('button', { name: /^Live/ }));
  await shows(page.locator('#map, #table').filter({ visible: true }).first());
  await until(async () => /[1-9][\d,]* files?/.test((await page.locator('canvas[role=img]').getAttribute('aria-label')) ?? ''), 'the map has files');
}

/** @param {Locator} locator */
export async function shows(locator) {
  await locator.first().waitFor({ state: 'visible' });
}

/** @param {Locator} locator */
export async function lacks(locator) {
  await locator.first().waitFor({ state: 'hidden' });
}

/**
 * Waits until something holds.
 * @param {() => unknown} holds
 * @param {string} what
 * @param {number} [patience]
 */
export async function until(holds, what, patience = PATIENCE_MS) {
  for (const end = Date.now() + patience; !(await holds()); ) {
    assert.ok(Date.now() < end, `never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** A picture for those who review the page. @param {Page} page @param {string} name */
export async function picture(page, name) {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}${name}.png` });
}

/** The button of a locked file under the map. @param {Page} page @param {string} path */
export function lockedFile(page, path) {
  return page.locator('#locked').getByRole('button', { name: new RegExp(`^${path.replace(/[.\\/]/g, '\\$&')}, (WRITING|READING) by`) });
}

/** The row of a holder. @param {Page} page @param {string} holder */
export function agentRow(page, holder) {
  return page.locator(`#agents [data-holder="${holder}"]`);
}

/** The same with its details. @param {Page} page @param {string} holder */
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
