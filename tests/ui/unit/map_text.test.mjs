import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edgeGroups } from '../../../public/map/edge_groups.js';
import { placeLabels } from '../../../public/map/label_places.js';
import { breakLines, labelSize, TextWidths } from '../../../public/map/label_text.js';
import { routeBetween } from '../../../public/map/paint_edges.js';
import { treeOf } from '../../../public/map/tree.js';
import { locksOf, repositoryOf } from '../bench/repositories.js';

// Each character is 6 pixels wide, those of East Asia 12.
const widths = new TextWidths((text) => [...text].reduce((sum, character) => sum + (character >= '\u1100' && character !== '…' ? 12 : 6), 0));

test('a text that fits stays whole', () => {
  assert.equal(widths.fit('lock.rs', 42), 'lock.rs');
  assert.equal(widths.of('日本'), 24);
});

test('a long text is truncated in the middle and keeps its end', () => {
  const text = widths.fit('a_module_with_a_long_name.rs', 90);
  assert.match(text, /^a_modu.*….*me\.rs$/);
  for (let room = 0; room < 200; room += 3) {
    const fitted = widths.fit('a_module_with_a_long_name.rs', room);
    assert.ok(fitted === '' || fitted.length * 6 <= room, `${fitted} in ${room}`);
  }
});

test('where only a few characters fit, there is none', () => {
  assert.equal(widths.fit('a_module_with_a_long_name.rs', 30), '');
});

test('truncation leaves no dot beside the ellipsis and no half of a character', () => {
  assert.doesNotMatch(widths.fit('lock_survey_of.rs', 54), /\.…|…\./);
  for (let room = 40; room < 160; room += 2) {
    assert.ok(widths.fit('🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀', room).isWellFormed());
  }
});

test('the edges of the selected file and of locked files are always drawn; all of them only in a small graph', () => {
  const colors = { soft: 'soft', reading: 'reading', writing: 'writing', ink: 'ink', accent: 'accent' };
  const palette = /** @type {any} */ ({ color: colors });
  for (const count of [100, 2000]) {
    const graph = repositoryOf(count);
    const tree = treeOf(graph.files);
    const locks = locksOf(graph, 5, 0);
    const selected = graph.imports.findIndex((imported, file) => imported.length > 2 && !locks.has(graph.files[file].path));
    const groups = edgeGroups({ graph, tree, palette, locks, selected, hasAll: true });
    const byColor = new Map(groups.map((group) => [group.color, group.nodes]));
    assert.equal(byColor.get('accent')?.length, graph.imports[selected].length * 2);
    assert.equal(byColor.get('ink')?.length ?? 0, graph.importers[selected].length * 2);
    assert.ok((byColor.get('writing')?.length ?? 0) + (byColor.get('reading')?.length ?? 0) > 0);
    assert.equal(byColor.has('soft'), graph.edgeCount < 1500);
    const first = byColor.get('accent') ?? [];
    assert.deepEqual([tree.file[first[0]], tree.file[first[1]]], [selected, graph.imports[selected][0]], 'from the importer to the imported');
  }
});

test('the edges of locked files run together along their folders', () => {
  const tree = treeOf(['api/a.ts', 'api/b.ts', 'core/db/c.ts', 'core/d.ts'].map((path) => ({ path, name: path.slice(path.lastIndexOf('/') + 1) })));
  const way = (/** @type {number} */ from, /** @type {number} */ to) => routeBetween(tree, tree.nodeOf[from], tree.nodeOf[to]).map((node) => tree.path[node]);
  assert.deepEqual(way(0, 2), ['api/a.ts', 'api', 'core', 'core/db', 'core/db/c.ts']);
  assert.deepEqual(way(1, 2), ['api/b.ts', 'api', 'core', 'core/db', 'core/db/c.ts'], 'all but its own end is the same');
  assert.deepEqual(way(2, 3), ['core/db/c.ts', 'core/db', 'core/d.ts']);
  assert.deepEqual(way(0, 1), ['api/a.ts', 'api', 'api/b.ts']);
});

test('names fill the room of a wide map, and are whole in it', () => {
  assert.equal(labelSize(60, 400, 300, 2000), 28);
  assert.equal(labelSize(60, 400, 300, 1000), 18);
  assert.equal(labelSize(60, 100, 300, 2000), 16, 'no wider than its cell');
  assert.equal(labelSize(60, 400, 50, 2000), 14, 'no higher than its cell allows');
  assert.equal(labelSize(60, 20, 10, 2000), 10);
});

test('a name is broken where its words meet, before it is truncated', () => {
  assert.deepEqual(breakLines(widths, 'billing_view.ts', 100, 2), { lines: ['billing_view.ts'], isWhole: true });
  assert.deepEqual(breakLines(widths, 'auth_helpers_for_requests.ts', 100, 2), { lines: ['auth_helpers_', 'for_requests.ts'], isWhole: true });
  assert.deepEqual(breakLines(widths, 'AuthHelpers.tsx', 66, 2), { lines: ['AuthHelpers', '.tsx'], isWhole: true });
  assert.equal(breakLines(widths, 'auth_helpers_for_requests.ts', 100, 1).isWhole, false);
  assert.deepEqual(breakLines(widths, 'auth_helpers_for_requests.ts', 20, 2), { lines: [], isWhole: false });
});

test('each of two dozen locked files has its name on a phone', () => {
  const cells = Array.from({ length: 23 }, (_, index) => ({ left: (index * 97) % 360, top: (index * 61) % 460, width: 20, height: 18 }));
  const places = placeLabels(cells.map((cell) => ({ cell, width: 126, height: 18 })), cells, { width: 390, height: 484 });
  assert.equal(places.filter((place) => place === null).length, 0);
});

test('names beside their cells hide neither one another nor a locked cell, and stay in view', () => {
  const view = { width: 600, height: 300 };
  const cells = Array.from({ length: 24 }, (_, index) => ({ left: 40 + (index % 6) * 90, top: 30 + Math.floor(index / 6) * 65, width: 12, height: 12 }));
  const places = placeLabels(cells.map((cell) => ({ cell, width: 70, height: 18 })), cells, view);
  assert.ok(places.every((place) => place !== null), 'every one has a place');
  const boxes = /** @type {import('../../../public/map/label_places.js').Box[]} */ ([...places, ...cells]);
  for (const [index, one] of boxes.entries()) {
    assert.ok(one.left >= 0 && one.top >= 0 && one.left + one.width <= view.width && one.top + one.height <= view.height);
    for (const other of boxes.slice(index + 1)) {
      assert.ok(one.left >= other.left + other.width || other.left >= one.left + one.width || one.top >= other.top + other.height || other.top >= one.top + one.height);
    }
  }
  assert.deepEqual(placeLabels([{ cell: cells[0], width: 700, height: 18 }], [], view), [null], 'none where there is no room');
});
