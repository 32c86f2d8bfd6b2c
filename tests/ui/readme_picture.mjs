// Takes the picture and the animation of README.md: the page with the agents of `coord demo` at work.
// `node readme_picture.mjs` in this folder.
// Needs the binary: COORD_BIN, or a debug build.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { encodeAnimation } from './animation.mjs';
import { LAUNCH } from './harness/launch.mjs';

const PICTURE = fileURLToPath(new URL('../../docs/page.png', import.meta.url));
const ANIMATION = fileURLToPath(new URL('../../docs/page.gif', import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../target', import.meta.url));
// All four agents have begun, and nobody has finished yet.
const MOMENT_MS = 4000;
const FRAMES = 24;
const FRAME_MS = 750;

const demo = spawn(process.env.COORD_BIN ?? `${target}/debug/coord`, ['demo', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
const ended = new Promise((resolve) => demo.on('exit', resolve));
const browser = await chromium.launch(LAUNCH);
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 760 }, locale: 'en-US', colorScheme: 'light' });
  await page.goto(await addressOf(demo));
  await page.getByRole('button', { name: /^Live/ }).waitFor();
  await page.waitForTimeout(MOMENT_MS);
  await page.screenshot({ path: PICTURE, animations: 'disabled' });
  const frames = [];
  while (frames.length < FRAMES) {
    frames.push(await page.screenshot({ animations: 'disabled', scale: 'css' }));
    await page.waitForTimeout(FRAME_MS);
  }
  writeFileSync(ANIMATION, encodeAnimation(frames, FRAME_MS));
} finally {
  await browser.close();
  demo.kill('SIGINT');
  await ended;
}

/** @param {import('node:child_process').ChildProcess} demo @returns {Promise<string>} */
async function addressOf({ stdout }) {
  if (!stdout) throw new Error('coord demo has no output');
  for await (const line of createInterface({ input: stdout })) {
    const [address] = /http:\/\/\S+/.exec(line) ?? [];
    if (address) return address;
  }
  throw new Error('coord demo has ended before it printed an address');
}
