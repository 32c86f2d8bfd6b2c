import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countMatches } from '../../../public/map/filter.js';
import { foldersAbove, treeOf } from '../../../public/map/tree.js';
import { filesOf, TREES } from './map_trees.mjs';

const paths = ['Cargo.toml', 'src/main.rs', 'src/net/tcp/client.rs', 'src/net/tcp/server.rs', 'src-old/main.rs', 'tests/a/b/one.rs'];

test('nodes are in preorder, with folders before their files', () => {
  const tree = treeOf(filesOf(paths));
  assert.deepEqual(tree.path.slice(0, tree.count), [
    '', 'src', 'src/net/tcp', 'src/net/tcp/client.rs', 'src/net/tcp/server.rs', 'src/main.rs', 'src-old', 'src-old/main.rs',
    'tests/a/b', 'tests/a/b/one.rs', 'Cargo.toml',
  ].sort((a, b) => tree.path.indexOf(a) - tree.path.indexOf(b)));
  for (let node = 1; node < tree.count; node++) {
    assert.ok(tree.parent[node] < node && node < tree.end[tree.parent[node]]);
  }
});

test('a folder that holds nothing but a folder is one box with both names', () => {
  const tree = treeOf(filesOf(paths));
  assert.equal(tree.name[tree.path.indexOf('src/net/tcp')], 'net/tcp');
  assert.equal(tree.path.indexOf('src/net'), -1);
  assert.equal(tree.name[tree.path.indexOf('tests/a/b')], 'tests/a/b');
});

test('every file has its node, and folders count what is inside', () => {
  for (const [name, files] of TREES) {
    const tree = treeOf(files);
    files.forEach(({ path }, file) => {
      assert.equal(tree.path[tree.nodeOf[file]], path, name);
      assert.equal(tree.file[tree.nodeOf[file]], file, name);
    });
    assert.equal(tree.fileCount[0], files.length, name);
    assert.equal(tree.end[0], tree.count, name);
  }
});

test('the folders above a file start with the root', () => {
  const tree = treeOf(filesOf(paths));
  const folders = foldersAbove(tree, tree.path.indexOf('src/net/tcp/client.rs'));
  assert.deepEqual(folders.map((node) => tree.path[node]), ['', 'src', 'src/net/tcp']);
});

test('the filter counts the files that have every word in their paths', () => {
  const tree = treeOf(filesOf(paths));
  const matches = countMatches(tree, ' TCP  rs ');
  assert.equal(matches?.[0], 2);
  assert.equal(matches?.[tree.path.indexOf('src/net/tcp')], 2);
  assert.equal(matches?.[tree.path.indexOf('src/main.rs')], 0);
  assert.equal(countMatches(tree, '   '), null);
});
