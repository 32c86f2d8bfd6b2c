import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellValue, graphRows, tableRows } from '../../../public/panels/table_rows.js';

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

test('rows are sorted, filtered, and those of locked files that the graph lacks', () => {
  const cases = [
    ['locks sort by how much they forbid', { column: 'mode', isDescending: true }, ['src/db.ts', 'new/file.ts', 'src/auth.ts', 'README.md', 'src/pool.ts']],
    ['rows without a value are last', { column: 'size' }, ['src/db.ts', 'src/pool.ts', 'src/auth.ts', 'README.md', 'new/file.ts']],
    ['downward, too', { column: 'size', isDescending: true }, ['src/auth.ts', 'src/pool.ts', 'src/db.ts', 'README.md', 'new/file.ts']],
    ['equal rows are in the order of their paths', { column: 'language', isDescending: true }, ['src/auth.ts', 'src/db.ts', 'src/pool.ts', 'README.md', 'new/file.ts']],
    ['the message of the lock on src/db.ts has a p', { filter: 'SRC p' }, ['src/db.ts', 'src/pool.ts']],
    ['the filter finds holders', { filter: 'lexer' }, ['new/file.ts', 'src/db.ts']],
    ['nothing matches', { filter: 'nothing' }, []],
    ['the switch leaves locked files and neighbors', { onlyLocked: true }, ['new/file.ts', 'src/auth.ts', 'src/db.ts']],
  ];
  for (const [name, choice, expected] of cases) assert.deepEqual(paths(choice), expected, name);
  assert.equal(paths({}).length, 5);
  assert.deepEqual(graphRows(null), [], 'no graph has no rows');
});

test('of several readers, the row expires with the first and names all', () => {
  const row = tableRows(graphRows(graph), state, { filter: 'new/', onlyLocked: false, column: 'name', isDescending: false })[0];
  assert.equal(cellValue(row, 'expiry', state), 500);
  assert.equal(cellValue(row, 'holder', state), 'bob/lexer, ada');
});
