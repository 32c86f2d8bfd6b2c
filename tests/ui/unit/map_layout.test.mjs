import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LARGEST_SHARE, layoutOf, WORST_ASPECT } from '../../../public/map/layout.js';
import { computePlacement, emptyPlacement, nodeAt } from '../../../public/map/placement.js';
import { squarify, squarifyBounded } from '../../../public/map/squarify.js';
import { treeOf } from '../../../public/map/tree.js';
import { weightOfImporters, weightOfSize } from '../../../public/map/weights.js';
import { repositoryOf } from '../bench/repositories.js';
import { TREES } from './map_trees.mjs';

const SIZES = [[1440, 900], [3840, 2160], [360, 640], [1200, 300]];

/** @param {{ path: string, name: string, size: number }[]} files @param {number} width @param {number} height */
function layOut(files, width, height, scale = 1) {
  const tree = treeOf(files);
  const layout = layoutOf(tree, Float64Array.from(files, ({ size }) => weightOfSize(size)), width / height);
  const placement = emptyPlacement(tree.count);
  computePlacement(layout, width * scale, height * scale, placement);
  return { tree, layout, placement };
}

/** @param {ReturnType<typeof layOut>} map */
function worstAspect({ tree, placement: { w, h } }) {
  let worst = 0;
  for (let node = 1; node < tree.count; node++) worst = Math.max(worst, w[node] / h[node], h[node] / w[node]);
  return worst;
}

test('squarified parts fill the rectangle with the shares of their weights', () => {
  const weights = Float64Array.from([6, 6, 4, 3, 2, 2, 1]);
  const parts = new Float64Array(28);
  const worst = squarify(weights, 6, 4, parts);
  weights.forEach((weight, index) => assert.ok(Math.abs(parts[index * 4 + 2] * parts[index * 4 + 3] - weight) < 1e-9));
  // The worst ratio in the paper's example.
  assert.ok(worst < 3, `${worst}`);
});

test('the bound holds for weights of any inequality', () => {
  for (const count of [2, 3, 7, 100, 5000]) {
    for (const power of [0, 1, 3, 8]) {
      for (const [width, height] of [[1, 1], [16, 9], [9, 1], [1, 7]]) {
        const weights = Float64Array.from({ length: count }, (_, index) => 1 / (index + 1) ** power);
        const parts = new Float64Array(count * 4);
        const worst = squarifyBounded(weights, width, height, 10, parts);
        assert.ok(worst <= 10, `${count} weights of power ${power} in ${width}x${height}: ${worst}`);
      }
    }
  }
});

for (const [name, files] of TREES) {
  test(`${name}: inside its folder, without overlap, no longer than the bound`, () => {
    for (const [width, height] of SIZES) {
      const { tree, layout, placement } = layOut(files, width, height);
      const { x, y, w, h } = placement;
      const covered = new Float64Array(tree.count);
      for (let node = 1; node < tree.count; node++) {
        const folder = tree.parent[node];
        assert.ok(w[node] > 0 && h[node] > 0);
        assert.ok(x[node] >= x[folder] - 1e-6 && y[node] >= y[folder] - 1e-6);
        assert.ok(x[node] + w[node] <= x[folder] + w[folder] + 1e-6 && y[node] + h[node] <= y[folder] + h[folder] + 1e-6);
        covered[folder] += w[node] * h[node];
        // Nothing overlaps: of each node, the middle belongs to itself or to something inside.
        const found = nodeAt({ tree }, placement, x[node] + w[node] / 2, y[node] + h[node] / 2);
        assert.ok(w[node] < 1e-6 || (found >= node && found < tree.end[node]));
      }
      for (let folder = 0; folder < tree.count; folder++) {
        if (tree.file[folder] >= 0) continue;
        const { inset, header } = placement;
        const inside = (w[folder] - 2 * inset[folder]) * (h[folder] - header[folder] - inset[folder]) * (folder === 0 ? layout.side ** 2 : 1);
        assert.ok(Math.abs(covered[folder] - inside) <= inside * 1e-6, 'all of a folder is its files');
      }
    }
  });

  test(`${name}: the worst aspect is bounded`, () => {
    for (const aspect of [0.5, 1, 1.6, 4]) {
      const width = Math.sqrt(1440 * 900 * aspect);
      assert.ok(worstAspect(layOut(files, width, width / aspect)) <= WORST_ASPECT + 1e-6);
      // Frames do not scale: at other sizes they take other shares, most where very many folders are in one another.
      for (const scale of [0.4, 3, 30]) {
        const worst = worstAspect(layOut(files, width, width / aspect, scale));
        assert.ok(worst <= WORST_ASPECT * 4, `${aspect} at ${scale}: ${worst}`);
      }
    }
  });
}

test('the same files give the same layout', () => {
  const { files } = repositoryOf(2000);
  const [first, second] = [layOut(files, 1440, 900), layOut(files, 1440, 900)];
  assert.deepEqual(first.layout.left, second.layout.left);
  assert.deepEqual(first.layout.height, second.layout.height);
});

test('one large file does not take the map from the others', () => {
  const files = [{ path: 'a.lock', size: 5_000_000 }, ...Array.from({ length: 100 }, (_, index) => ({ path: `f${index}`, size: 3000 }))]
    .map(({ path, size }) => ({ path, name: path, size }));
  const { tree, placement: { w, h } } = layOut(files, 1440, 900);
  const node = tree.nodeOf[0];
  assert.ok(w[node] * h[node] < 1440 * 900 * 0.12);
});

test('weights grow with size and importers, and are never zero', () => {
  const sizes = [0, 1, 600, 5000, 60_000, 800_000].map(weightOfSize);
  assert.deepEqual(sizes, [...sizes].sort((a, b) => a - b));
  assert.equal(sizes[0], 1);
  assert.equal(weightOfSize(NaN), 1);
  assert.equal(weightOfSize(10_000), weightOfSize(10_200), 'a few bytes more move nothing');
  assert.equal(weightOfImporters(0), 1);
  assert.ok(weightOfImporters(1e9) < 100);
});

test('no file takes more than a sixth of the map, however few there are', () => {
  for (const count of [1, 2, 3, 5, 8]) {
    for (const [width, height] of SIZES) {
      const { tree, placement: { x, y, w, h } } = layOut(Array.from({ length: count }, (_, index) => ({ path: `f${index}`, name: `f${index}`, size: 9000 / (index + 1) })), width, height);
      for (let node = 1; node < tree.count; node++) {
        assert.ok(w[node] * h[node] <= width * height * LARGEST_SHARE * 1.01, `${count} files in ${width}x${height}`);
        assert.ok(x[node] >= 0 && y[node] >= 0 && x[node] + w[node] <= width && y[node] + h[node] <= height);
      }
    }
  }
});
