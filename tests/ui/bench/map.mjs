// Measures the map in Debian's Chromium with software rendering: first paint, frames while panning and zooming, lock to lit pixels.
// Usage: node bench/map.mjs [--size 1440x900] [--files 100,2000,20000]

import { chromium } from 'playwright-core';
import { parseArgs } from 'node:util';

import { LAUNCH } from '../harness/launch.mjs';
import { figure, quantile } from './measure.mjs';
import { startStaticServer } from './static_server.mjs';

const { values } = parseArgs({ options: { size: { type: 'string', default: '1440x900' }, files: { type: 'string', default: '100,2000,20000' } } });
const [width, height] = values.size.split('x').map(Number);
const LOCKS = 40;
const GESTURE_MS = 4000;
const CHROMIUM = { ...LAUNCH, executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' };

const server = await startStaticServer();
const browser = await chromium.launch(CHROMIUM);
console.log(`${width}x${height}, Chromium ${browser.version()}, software rendering, ${LOCKS} locks`);
try {
  for (const files of values.files.split(',').map(Number)) console.log(await measure(files));
} finally {
  await browser.close();
  server.close();
}

/** @param {number} files */
async function measure(files) {
  const page = await browser.newPage({ viewport: { width, height } });
  page.on('pageerror', (error) => console.error(error));
  await page.goto(server.url);
  const run = (/** @type {string} */ call) => page.evaluate(`bench.${call}`);
  const first = await run(`firstPaint(${files})`);
  await run(`setLocks(${LOCKS})`);
  const lit = [];
  for (let index = 0; index < 15; index++) {
    lit.push((await run('lockLit()')).painted);
    await page.waitForTimeout(150);
  }
  const idle = await run(`frames(1500, () => {})`);
  await run('map.zoomBy(4)');
  await page.waitForTimeout(600);
  const pan = await run(`pan(${GESTURE_MS})`);
  await page.waitForTimeout(400);
  const zoom = await run(`zoom(${GESTURE_MS})`);
  await page.close();
  return [
    `${first.files} files, ${first.edges} edges:`,
    `first paint ${figure(first.painted)} ms (script ${figure(first.scripted)} ms);`,
    `frames a second: ${rate(idle)} idle, ${rate(pan)} panning, ${rate(zoom)} zooming`,
    `(slowest twentieth from ${figure(quantile(pan, 0.95))} ms panning, ${figure(quantile(zoom, 0.95))} ms zooming);`,
    `lock to pixels ${figure(quantile(lit, 0.5))} ms, at most ${figure(Math.max(...lit))} ms`,
  ].join(' ');
}

/** @param {number[]} times */
function rate(times) {
  return (1000 / (times.reduce((sum, time) => sum + time, 0) / times.length)).toFixed(1);
}
