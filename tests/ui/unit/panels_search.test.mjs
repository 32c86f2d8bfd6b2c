import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bestMatches, scoreOf, search, searchIndex, searchTasks } from '../../../public/panels/search_ranking.js';

const PATHS = ['docs/db/notes.md', 'lib/storage/pool.rs', 'src/adb.ts', 'src/api/session_store.ts', 'src/db.ts', 'src/db_pool.ts', 'tests/src/database.ts'];
const files = (query) => search(searchIndex(PATHS), [], query).filter(({ type }) => type === 'file').map(({ value }) => value);

test('an exact name is best, then the beginning of a name, a part of it, the folder', () => {
  assert.deepEqual(files('db').slice(0, 4), ['src/db.ts', 'src/db_pool.ts', 'src/adb.ts', 'docs/db/notes.md']);
});

test('first letters of words find a path, and all terms must match, in any order and case', () => {
  assert.deepEqual(files('sess'), ['src/api/session_store.ts']);
  assert.equal(files('sst')[0], 'src/api/session_store.ts');
  assert.deepEqual(files('POOL src'), ['src/db_pool.ts']);
  assert.deepEqual(bestMatches(PATHS, '  ', 5), [], 'an empty query matches nothing');
});

test('among files of one name, those that are locked come first', () => {
  const index = searchIndex(['a/mod.rs', 'b/mod.rs', 'b/modes.rs', 'c/deeper/mod.rs']);
  const values = search(index, [], 'mod', new Set(['c/deeper/mod.rs', 'b/modes.rs'])).map(({ value }) => value);
  assert.deepEqual(values.slice(0, 4), ['c/deeper/mod.rs', 'a/mod.rs', 'b/mod.rs', 'b/modes.rs']);
});

test('the beginning of a word and letters near each other count most; scattered letters do not match', () => {
  assert.ok(scoreOf('src/session_store.ts', 'store') > scoreOf('src/bookstore.ts', 'store'));
  assert.ok(scoreOf('src/check.rs', 'chk') > scoreOf('src/cli__graph_command__limits__all_kinds.snap', 'chk'), 'first letters of words that are far apart');
  assert.equal(scoreOf('lib/storage/pool.rs', 'ioao'), 0);
  assert.equal(scoreOf('lib/storage/pool.rs', 'xyz'), 0);
});

test('folders and holders are found too', () => {
  const matches = search(searchIndex(PATHS), ['ada/storage', 'bob'], 'storage');
  assert.deepEqual(matches, [{ type: 'file', value: 'lib/storage/pool.rs' }, { type: 'folder', value: 'lib/storage/' }, { type: 'holder', value: 'ada/storage' }]);
});

test('folders of every depth are in the index', () => {
  assert.deepEqual(searchIndex(['a/b/c/d.ts', 'a/x.ts', 'y.ts']).folders, ['a/', 'a/b/', 'a/b/c/']);
});

test('tasks are found by their id and by words of their title', () => {
  const tasks = new Map([['t1', 'Pool the connections'], ['t12', 'Read/write split of the pool'], ['t2', 'Announce it']].map(([id, title]) => [id, { id, title }]));
  assert.deepEqual(searchTasks(tasks, 't12').map(({ value }) => value), ['t12']);
  assert.deepEqual(searchTasks(tasks, 'pool').map(({ value }) => value), ['t1', 't12']);
  assert.deepEqual(searchTasks(tasks, 'write pool').map(({ value }) => value), ['t12']);
});
