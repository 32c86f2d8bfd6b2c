import assert from 'node:assert/strict';
import { test } from 'node:test';
import { graphRows, tableRows, valueOf } from '../../../public/panels/table_rows.js';

const file = (path, size, language = null) => ({ path, name: path.split('/').pop(), size, language, state: null });
const graph = {
  files: [file('README.md', 0), file('src/auth.ts', 300, 'typescript'), file('src/db.ts', 100, 'typescript'), file('src/pool.ts', 200, 'typescript')],
  imports: [[], [2], [], [2]],
  importers: [[], [], [1, 3], []],
};
const lock = (path, fields = {}) => ({ path, holder: 'bob/lexer', mode: 'WRITING', message: 'Adding a pool', since: 0, expiry: 900, ...fields });
const state = {
  locks: new Map([['src/db.ts', [lock('src/db.ts')]], ['new/file.ts', [lock('new/file.ts', { mode: 'READING', expiry: 500 }), lock('new/file.ts', { mode: 'READING', holder: 'ada', expiry: 700 })]]]),
  neighbors: new Map([['src/auth.ts', ['src/db.ts']]]),
  blocked: new Set(['src/auth.ts']),
};
const paths = (choice) => tableRows(graphRows(graph), state, { filter: '', onlyLocked: false, column: 'folder', isDescending: false, ...choice }).map(({ path }) => path);

test('a locked file that the graph does not have is a row too', () => {
  assert.ok(paths({}).includes('new/file.ts'));
  assert.equal(paths({}).length, 5);
});

test('locks sort by how much they forbid', () => {
  assert.deepEqual(paths({ column: 'mode', isDescending: true }), ['src/db.ts', 'new/file.ts', 'src/auth.ts', 'README.md', 'src/pool.ts']);
});

test('rows without a value are last, up and down', () => {
  assert.deepEqual(paths({ column: 'size' }), ['src/db.ts', 'src/pool.ts', 'src/auth.ts', 'README.md', 'new/file.ts']);
  assert.deepEqual(paths({ column: 'size', isDescending: true }), ['src/auth.ts', 'src/pool.ts', 'src/db.ts', 'README.md', 'new/file.ts']);
});

test('what is equal is in the order of the paths, either way', () => {
  assert.deepEqual(paths({ column: 'language', isDescending: true }), ['src/auth.ts', 'src/db.ts', 'src/pool.ts', 'README.md', 'new/file.ts']);
});

test('of several readers, the row expires with the first and names all', () => {
  const row = tableRows(graphRows(graph), state, { filter: 'new/', onlyLocked: false, column: 'name', isDescending: false })[0];
  assert.equal(valueOf(row, 'expiry', state), 500);
  assert.equal(valueOf(row, 'holder', state), 'bob/lexer, ada');
});

test('the filter finds paths, holders and messages', () => {
  assert.deepEqual(paths({ filter: 'SRC p' }), ['src/db.ts', 'src/pool.ts'], 'the message of the lock on src/db.ts has a p');
  assert.deepEqual(paths({ filter: 'lexer' }), ['new/file.ts', 'src/db.ts']);
  assert.deepEqual(paths({ filter: 'nothing' }), []);
});

test('the switch leaves locked files and neighbors', () => {
  assert.deepEqual(paths({ onlyLocked: true }), ['new/file.ts', 'src/auth.ts', 'src/db.ts']);
});

test('no graph is no rows', () => {
  assert.deepEqual(graphRows(null), []);
});
