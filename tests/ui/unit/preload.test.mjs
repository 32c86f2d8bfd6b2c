// The page names all of its modules at once, so that a browser does not find them one import after another.
// COORD_UPDATE_PAGE=1 writes the names.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';

const PUBLIC = new URL('../../../public/', import.meta.url);
const PAGE = new URL('index.html', PUBLIC);
const LINK = /^<link rel="modulepreload" href="([^"]+)">\n/gm;
const IMPORT = /^import\s[^;]*?'(\.[^']+)';/gm;

/** The module and all that it imports, each once. */
function modulesOf(module, modules = new Set()) {
  if (modules.has(module)) return modules;
  modules.add(module);
  const text = readFileSync(new URL(module, PUBLIC), 'utf8');
  for (const [, path] of text.matchAll(IMPORT)) modulesOf(posix.join(posix.dirname(module), path), modules);
  return modules;
}

test('the page names every module that it needs, and no other', () => {
  const modules = [...modulesOf('app/main.js')].filter((module) => module !== 'app/main.js').sort();
  assert.ok(modules.length > 50, 'the imports are read');
  let page = readFileSync(PAGE, 'utf8');
  if (process.env.COORD_UPDATE_PAGE) {
    const links = modules.map((module) => `<link rel="modulepreload" href="${module}">\n`).join('');
    page = page.replace(LINK, '').replace('</head>', `${links}</head>`);
    writeFileSync(PAGE, page);
  }
  assert.deepEqual([...page.matchAll(LINK)].map(([, module]) => module), modules, 'COORD_UPDATE_PAGE=1 writes them');
});
