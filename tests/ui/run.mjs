// Runs the browser tests over one Chromium: `node run.mjs [FILE...]`.

import { spawn } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { LAUNCH, SCREENSHOTS } from './harness/launch.mjs';

const FOLDER = fileURLToPath(new URL('browser/', import.meta.url));
const PARALLEL = 3;

rmSync(SCREENSHOTS, { recursive: true, force: true });
const server = await chromium.launchServer(LAUNCH);
const chosen = process.argv.slice(2);
const files = chosen.length > 0 ? chosen : readdirSync(FOLDER).filter((name) => name.endsWith('.test.mjs')).map((name) => FOLDER + name);
const options = ['--test', '--test-reporter=spec', `--test-concurrency=${PARALLEL}`];
const tests = spawn(process.execPath, [...options, ...files], { stdio: 'inherit', env: { ...process.env, COORD_UI_BROWSER: server.wsEndpoint() } });
process.exitCode = await new Promise((resolve) => tests.once('exit', (code) => resolve(code ?? 1)));
await server.close();
console.log(`Screenshots: ${SCREENSHOTS}`);
