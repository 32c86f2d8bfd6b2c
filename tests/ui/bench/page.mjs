// Figures of the page over the real binary: `node bench/page.mjs [--files 100,2000,20000] [--events 0]`.
//
//   --files    sizes of the repositories
//   --events   simulated events on the page's WebSocket, after which memory is read once more: an hour at 50 a second is 180000
//
// COORD_BIN names the binary; a release build, because the server's share counts.

import { parseArgs } from 'node:util';

import { chromium } from 'playwright-core';

import { agentOf } from '../harness/agents.mjs';
import { LAUNCH } from '../harness/launch.mjs';
import { generatedFiles, makeRepository } from '../harness/repositories.mjs';
import { startServer, UNLIMITED } from '../harness/server.mjs';
import { benchContext, figure, printTable, quantile, VIEWPORT } from './measure.mjs';

const { values } = parseArgs({ options: { files: { type: 'string', default: '100,2000,20000' }, events: { type: 'string', default: '0' } } });
const LOADS = 5;
const CLAIMS = 20;
const PAN_MS = 3000;
const BATCH = 500;

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs in the page before its own modules: notes when the map is there, and when a lock is lit. @param {string} label */
function watchPage(label) {
  const notes = /** @type {any} */ (window).notes = { mapAt: 0, litAt: /** @type {Record<string, number>} */ ({}), frames: /** @type {number[]} */ ([]) };
  const painted = (/** @type {(at: number) => void} */ callback) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => callback(performance.now());
    port2.postMessage(null);
  });
  new MutationObserver(() => {
    if (!notes.mapAt && document.querySelector('canvas[role=img]')?.getAttribute('aria-label')?.startsWith(label)) {
      notes.mapAt = 1;
      painted((at) => (notes.mapAt = at));
    }
    for (const button of document.querySelectorAll('#locked button')) {
      const path = button.getAttribute('title')?.split('\n')[0] ?? '';
      if (path in notes.litAt) continue;
      notes.litAt[path] = 0;
      painted((at) => (notes.litAt[path] = performance.timeOrigin + at));
    }
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['aria-label', 'title'] });
}

/**
 * @param {import('playwright-core').Browser} browser @param {string} address @param {string} label
 * @param {(page: import('playwright-core').Page) => Promise<unknown>} [prepare]
 */
async function load(browser, address, label, prepare) {
  const tab = await browser.newContext({ viewport: VIEWPORT });
  await tab.addInitScript(watchPage, label);
  const page = await tab.newPage();
  await prepare?.(page);
  const session = await tab.newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.goto(address);
  await page.waitForFunction(() => /** @type {any} */ (window).notes.mapAt > 1, null, { timeout: 120_000 });
  await page.waitForLoadState('networkidle');
  const mapAt = await page.evaluate(() => /** @type {number} */ (/** @type {any} */ (window).notes.mapAt));
  return { tab, page, session, mapAt, bytes: () => bytes };
}

/** Times between frames while the map is dragged. @param {import('playwright-core').Page} page */
async function pan(page) {
  const box = await page.locator('canvas[role=img]').boundingBox();
  if (!box) throw new Error('no map');
  const [middleX, middleY] = [box.x + box.width / 2, box.y + box.height / 2];
  for (let step = 0; step < 4; step++) await page.keyboard.press('+');
  await pause(800);
  await page.mouse.move(middleX, middleY);
  await page.mouse.down();
  await page.evaluate(() => {
    const { frames } = /** @type {any} */ (window).notes;
    let last = performance.now();
    const next = (/** @type {number} */ now) => {
      frames.push(now - last);
      last = now;
      /** @type {any} */ (window).notes.timer = requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  const start = Date.now();
  for (let step = 0; Date.now() - start < PAN_MS; step++) {
    await page.mouse.move(middleX + Math.sin(step / 25) * box.width * 0.35, middleY + Math.cos(step / 31) * box.height * 0.35);
  }
  await page.mouse.up();
  const frames = await page.evaluate(() => {
    cancelAnimationFrame(/** @type {any} */ (window).notes.timer);
    return /** @type {number[]} */ (/** @type {any} */ (window).notes.frames).slice(2);
  });
  return frames;
}

/** Memory of the tab after a collection of garbage. @param {import('playwright-core').CDPSession} session */
async function memory(session) {
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes } = await session.send('Memory.getDOMCounters');
  return { heap: usedSize / 2 ** 20, nodes };
}

/** @param {import('playwright-core').Page} page @param {import('../harness/agents.mjs').Agent} agent @param {string[]} paths */
async function lightUp(page, agent, paths) {
  const waits = [];
  for (const path of paths) {
    // The last claim ended with a frame: without a pause of random length, each would begin at the same point of one.
    await page.waitForTimeout(Math.random() * 100);
    const sentAt = Date.now();
    const { status, answeredAt } = await agent.write(path, 'Measuring');
    if (status !== 200) throw new Error(`the claim of ${path}: ${status}`);
    await page.waitForFunction((name) => /** @type {any} */ (window).notes.litAt[name] > 0, path);
    const litAt = await page.evaluate((name) => /** @type {number} */ (/** @type {any} */ (window).notes.litAt[name]), path);
    waits.push({ fromSent: litAt - sentAt, fromAnswer: litAt - answeredAt });
    await agent.release(path);
    await pause(50);
  }
  return waits;
}

/**
 * Claims and releases by twenty holders, on a WebSocket that also has the server's own messages.
 * @param {import('playwright-core').Browser} browser @param {string} address @param {string} label @param {string[]} paths @param {number} count
 */
async function simulate(browser, address, label, paths, count) {
  /** @type {import('playwright-core').WebSocketRoute | null} */
  let socket = null;
  const { tab, page, session } = await load(browser, address, label, (opened) => opened.routeWebSocket(/api\/events/, (route) => {
    route.connectToServer();
    socket = route;
  }));
  const before = await memory(session);
  const startedAt = Date.now();
  const held = /** @type {string[]} */ ([]);
  for (let number = 0; number < count; number++) {
    const now = Date.now();
    const isRelease = number % 2 === 1 && held.length > 20;
    const path = isRelease ? /** @type {string} */ (held.shift()) : paths[(number * 7919) % paths.length];
    if (!isRelease) held.push(path);
    const index = paths.indexOf(path) % 20;
    const holder = { user: `user-${index % 5}`, user_name: `User ${index % 5}`, agent_id: `agent-${index}`, branch: 'main', status: 'WRITING' };
    const claim = { action: 'PROCEED', message: `Work ${number} on a part of it`, token: number, expiry: Math.ceil(now / 1000) + 300, expiry_ms: now + 300_000 };
    const event = { id: `${now}-${number}`, type: isRelease ? 'lock_released' : 'lock_granted', ...holder, ...claim, files: [path], file_count: 1, time: Math.floor(now / 1000), time_ms: now };
    /** @type {any} */ (socket).send(JSON.stringify(event));
    // The page takes what has come before it gets more.
    if (number % BATCH === 0) await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20))));
  }
  await pause(3000);
  const after = await memory(session);
  await tab.close();
  const seconds = (Date.now() - startedAt) / 1000;
  return { events: count, 'events/s': figure(count / seconds), 'heap before MiB': figure(before.heap, 1), 'heap after MiB': figure(after.heap, 1), 'DOM nodes before': before.nodes, 'DOM nodes after': after.nodes };
}

const browser = await chromium.launch(LAUNCH);
const rows = [];
let bench = benchContext();
try {
  for (const count of values.files.split(',').map(Number)) {
    const files = generatedFiles(count);
    const repository = makeRepository(bench.context, { files, name: `acme/of-${count}` });
    const server = await startServer(bench.context, repository, { env: UNLIMITED });
    const address = `${server.url}?repo_url=${repository.repoUrl}&branch=main`;
    const label = `Map of ${count.toLocaleString('en-US')} files`;
    // The first load builds the graph, and is not counted.
    await (await load(browser, address, label)).tab.close();
    const firsts = [];
    for (let turn = 1; turn < LOADS; turn++) {
      const { tab, mapAt } = await load(browser, address, label);
      firsts.push(mapAt);
      await tab.close();
    }
    const { tab, page, session, mapAt, bytes } = await load(browser, address, label);
    firsts.push(mapAt);
    const transferred = bytes();
    const agent = agentOf(server, repository, 'ada', 'measuring');
    const lit = await lightUp(page, agent, Object.keys(files).slice(0, CLAIMS));
    const frames = await pan(page);
    const row = {
      files: count, 'first paint ms': figure(quantile(firsts, 0.5)), 'pan frames/s': figure(1000 / (frames.reduce((sum, each) => sum + each, 0) / frames.length)),
      'pan p95 ms': figure(quantile(frames, 0.95), 1), 'POST sent to lit ms': figure(quantile(lit.map(({ fromSent }) => fromSent), 0.5)),
      'response to lit ms': figure(quantile(lit.map(({ fromAnswer }) => fromAnswer), 0.5)), 'max ms': figure(Math.max(...lit.map(({ fromAnswer }) => fromAnswer))),
      'transferred kB': figure(transferred / 1000, 1), 'heap MiB': '', 'DOM nodes': 0,
    };
    const before = await memory(session);
    Object.assign(row, { 'heap MiB': figure(before.heap, 1), 'DOM nodes': before.nodes });
    if (Number(values.events) > 0) Object.assign(row, await simulate(browser, address, label, Object.keys(files), Number(values.events)));
    rows.push(row);
    await tab.close();
    await bench.cleanUp();
    bench = benchContext();
  }
} finally {
  await browser.close();
  await bench.cleanUp();
}
printTable(rows);
