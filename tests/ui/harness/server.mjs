// The real binary, serving repositories on a port of its own.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

import { freePort } from '../../vercel/processes.mjs';
import { addCleanup } from './cleanup.mjs';
import { temporaryFolder } from './repositories.mjs';

const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../../target', import.meta.url));
const PROGRAM = process.env.COORD_BIN ?? `${target}/debug/coord`;
const START_MS = 20_000;
/** Settings that turn the rate limits off. */
export const UNLIMITED = { COORD_LIMIT_HOLDER_PER_MINUTE: '0', COORD_LIMIT_PERSON_PER_MINUTE: '0', COORD_LIMIT_REPOSITORY_PER_MINUTE: '0', COORD_LIMIT_REFUSED_PER_MINUTE: '0' };

/** The environment without settings of this machine. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(COORD_|GITHUB_|UPSTASH_|KV_|CRON_)/.test(name)));

/**
 * @typedef {object} Server
 * @property {string} url With a slash at its end.
 * @property {number} port
 * @property {() => Promise<void>} kill By SIGKILL, without a message to the clients.
 * @property {() => Promise<void>} stop By SIGTERM, as a shutdown.
 * @property {() => Promise<void>} start Again, on the same port and with the same store.
 */

/** @param {number} port @returns {Promise<boolean>} */
function isOpen(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false)).on('close', () => socket.destroy());
    socket.on('connect', () => socket.end());
  });
}

/**
 * @param {import('node:test').TestContext} t
 * @param {{ path: string } | { path: string }[]} repositories
 * @param {{ args?: string[], env?: Record<string, string>, isPublic?: boolean }} [options] `isPublic`: on all addresses of the machine, so
 *   that callers need credentials.
 * @returns {Promise<Server>}
 */
export async function startServer(t, repositories, { args = [], env = {}, isPublic = false } = {}) {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing: cargo build --package coord-cli --bin coord`);
  const port = await freePort();
  const data = temporaryFolder(t);
  const repositoryArgs = [repositories].flat().flatMap(({ path }) => ['--repo', path]);
  const all = ['serve', ...repositoryArgs, '--listen', `${isPublic ? '0.0.0.0' : '127.0.0.1'}:${port}`, '--data-dir', data, ...args];
  /** @type {import('node:child_process').ChildProcess | null} */
  let child = null;

  async function start() {
    let output = '';
    const own = spawn(PROGRAM, all, { env: { ...ENVIRONMENT, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    child = own;
    own.stdout.on('data', (text) => (output += text));
    own.stderr.on('data', (text) => (output += text));
    for (const end = Date.now() + START_MS; !(await isOpen(port)); ) {
      if (own.exitCode !== null || Date.now() > end) throw new Error(`coord serve does not start:\n${output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** @param {NodeJS.Signals} signal */
  async function end(signal) {
    const own = child;
    child = null;
    if (!own || own.exitCode !== null || own.signalCode !== null) return;
    const ended = new Promise((resolve) => own.once('exit', resolve));
    own.kill(signal);
    await ended;
  }

  addCleanup(t, () => end('SIGKILL'));
  await start();
  return { url: `http://127.0.0.1:${port}/`, port, start, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}
