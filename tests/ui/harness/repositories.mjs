// Git repositories for the tests, by `git fast-import`: 20,000 files take two seconds.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

import { repositoryOf } from '../bench/repositories.js';
import { addCleanup } from './cleanup.mjs';

const SHOP_SCRIPT = fileURLToPath(new URL('../../../docs/shop.sh', import.meta.url));
const SCANNED = new Set(['ts', 'js']);
/** A file is at most so long, so that a large repository is made quickly. */
const MAX_BYTES = 4000;

/**
 * A bare repository on disk. Its branches are its own, so that a push is a commit here.
 * @typedef {object} Repository
 * @property {string} path
 * @property {string} repoUrl
 * @property {(files: Record<string, string>, options?: { branch?: string, from?: string, message?: string }) => string} commit Adds or replaces files;
 *   returns the commit.
 * @property {(branch?: string) => string} head
 * @property {(revision: string) => void} lose Removes an object, as a damaged disk would: `main:src`, for example.
 * @property {(branch: string, revision: string) => void} move Points a branch at a commit, as a push does.
 */

/** @param {import('node:test').TestContext} t @returns {string} A folder that is removed when the test ends. */
export function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'coord-page-'));
  addCleanup(t, () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/**
 * @param {import('node:test').TestContext} t
 * @param {{ files?: Record<string, string>, name?: string }} [options] Without files, an empty first commit.
 * @returns {Repository}
 */
export function makeRepository(t, { files = SMALL, name = 'acme/shop' } = {}) {
  const path = join(temporaryFolder(t), `${name.replaceAll('/', '-')}.git`);
  const git = (/** @type {string[]} */ args, input = '') =>
    execFileSync('git', ['-C', path, ...args], { input, encoding: 'utf8', maxBuffer: 2 ** 30, stdio: ['pipe', 'pipe', 'inherit'] }).trim();
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', path]);
  git(['config', 'remote.origin.url', `https://github.com/${name}.git`]);
  let second = 1_780_000_000;

  /** @type {Repository} */
  const repository = {
    path,
    repoUrl: `https://github.com/${name}`,
    head: (branch = 'main') => git(['rev-parse', branch]),
    commit(changed, { branch = 'main', from = branch, message = 'Change files' } = {}) {
      second += 60;
      const parent = git(['for-each-ref', '--format=%(objectname)', `refs/heads/${from}`]);
      const lines = [`commit refs/heads/${branch}`, `committer Ada <ada@example.com> ${second} +0000`, data(message)];
      if (parent) lines.push(`from ${parent}`);
      for (const [file, text] of Object.entries(changed)) lines.push(`M 100644 inline ${file}`, data(text));
      git(['fast-import', '--quiet'], `${lines.join('\n')}\n`);
      return repository.head(branch);
    },
    lose(revision) {
      const object = git(['rev-parse', revision]);
      rmSync(join(path, 'objects', object.slice(0, 2), object.slice(2)));
    },
    move: (branch, revision) => void git(['update-ref', `refs/heads/${branch}`, revision]),
  };
  repository.commit(files);
  return repository;
}

/** @param {string} text */
function data(text) {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}

/**
 * The repository of the session in the README, with its two working copies.
 * @param {import('node:test').TestContext} t
 * @returns {{ path: string, repoUrl: string, head: () => string }}
 */
export function makeReadmeShop(t) {
  const folder = join(temporaryFolder(t), 'shop');
  execFileSync('sh', [SHOP_SCRIPT, folder], { stdio: 'ignore' });
  const path = join(folder, 'ada');
  const head = () => execFileSync('git', ['-C', path, 'rev-parse', 'origin/main'], { encoding: 'utf8' }).trim();
  return { path, repoUrl: 'https://github.com/acme/shop', head };
}

/**
 * @param {number} count
 * @returns {Record<string, string>} Files of a generated repository, whose imports can be resolved.
 */
export function generatedFiles(count) {
  const { files, imports } = repositoryOf(count);
  const isScanned = (/** @type {string} */ path) => SCANNED.has(path.slice(path.lastIndexOf('.') + 1));
  return Object.fromEntries(files.map(({ path, size }, index) => {
    const imported = isScanned(path) ? imports[index].map((other) => files[other].path).filter(isScanned) : [];
    const lines = imported.map((other) => {
      const relative = posix.relative(posix.dirname(path), other);
      return `import '${relative.startsWith('.') ? relative : `./${relative}`}';\n`;
    });
    const text = lines.join('');
    return [path, text + '\n'.repeat(Math.max(0, Math.min(MAX_BYTES, size) - text.length))];
  }));
}

/** @type {Record<string, string[]>} What each file of the small repository imports. */
const IMPORTS = {
  'src/api/checkout.ts': ['../cart/cart', '../payment/charge', '../auth/session', './errors'],
  'src/api/errors.ts': [],
  'src/api/login.ts': ['../auth/login', './errors'],
  'src/api/routes.ts': ['./checkout', './login', './search'],
  'src/api/search.ts': ['../catalog/search', './errors'],
  'src/auth/login.ts': ['../store/db', './password', './session'],
  'src/auth/password.ts': [],
  'src/auth/session.ts': ['../store/db'],
  'src/cart/cart.ts': ['../store/db', '../catalog/price'],
  'src/cart/discount.ts': ['../catalog/price'],
  'src/catalog/price.ts': ['../money'],
  'src/catalog/search.ts': ['../store/db', './price'],
  'src/money.ts': [],
  'src/payment/charge.ts': ['../money', './provider'],
  'src/payment/provider.ts': [],
  'src/payment/refund.ts': ['./charge', '../money'],
  'src/store/db.ts': ['./pool'],
  'src/store/migrations.ts': ['./db'],
  'src/store/pool.ts': [],
  'tests/cart.test.ts': ['../src/cart/cart'],
  'tests/login.test.ts': ['../src/auth/login'],
  'tests/payment.test.ts': ['../src/payment/charge', '../src/payment/refund'],
};

/** The small repository: a shop of some thirty files. */
const SMALL = {
  ...Object.fromEntries(Object.entries(IMPORTS).map(([path, imported], index) => [
    path, imported.map((other) => `import * as ${/\w+$/.exec(other)?.[0]} from '${other}';\n`).join('') + '// A line of the file.\n'.repeat(20 + ((index * 37) % 90)),
  ])),
  'README.md': '# Shop\n'.repeat(60),
  'package.json': '{ "name": "shop" }\n',
  'docs/api.md': 'The API.\n'.repeat(120),
  'docs/deploy.md': 'Deploying.\n'.repeat(40),
  'styles/shop.css': '.cart { color: black }\n'.repeat(50),
};
