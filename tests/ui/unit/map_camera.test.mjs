import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Camera, flight } from '../../../public/map/camera.js';
import { layoutOf } from '../../../public/map/layout.js';
import { nodeAt, pointOf } from '../../../public/map/placement.js';
import { treeOf } from '../../../public/map/tree.js';
import { randomFrom, repositoryOf } from '../bench/repositories.js';

function camera(files = 2000) {
  const graph = repositoryOf(files);
  const tree = treeOf(graph.files);
  return new Camera(layoutOf(tree, new Float64Array(files).fill(1), 1.6), 1440, 900);
}

test('the point under the pointer stays there in a zoom', () => {
  const random = randomFrom(5);
  const view = camera();
  view.zoomAt(6, 700, 400);
  for (let step = 0; step < 200; step++) {
    const [x, y] = [random() * 1440, random() * 900];
    const anchor = view.anchorAt(x, y);
    view.zoomAt(0.8 + random() * 0.6, x, y);
    const point = pointOf(view.placement, anchor);
    const isAtEdge = view.x === 0 || view.y === 0 || view.x === 1440 * (view.scale - 1) || view.y === 900 * (view.scale - 1);
    assert.ok(isAtEdge || Math.hypot(point.x - view.x - x, point.y - view.y - y) < 1e-6);
  }
});

test('the view never leaves the map, and the scale its bounds', () => {
  const view = camera(100);
  view.zoomAt(1e9, 10, 10);
  assert.equal(view.scale, view.maxScale);
  view.panBy(1e7, -1e7);
  assert.deepEqual([view.x, view.y], [0, 900 * (view.scale - 1)]);
  view.zoomAt(1e-9, 500, 500);
  assert.deepEqual([view.scale, view.x, view.y], [1, 0, 0]);
});

test('a folder that is fitted fills the view, and the camera does not move for asking', () => {
  const view = camera();
  view.zoomAt(3, 300, 300);
  const before = [view.scale, view.x, view.y];
  const folder = view.layout.tree.path.indexOf('core/config');
  const scale = view.scaleFor(folder, 0.96);
  assert.deepEqual([view.scale, view.x, view.y], before);
  view.setScale(scale);
  const { w, h } = view.boxOf(folder);
  assert.ok(Math.abs(Math.max(w / 1440, h / 900) - 0.96) < 0.02);
});

test('a flight ends with its node in the middle of the view', () => {
  const view = camera();
  const node = view.layout.tree.nodeOf[1200];
  const go = flight(view, { node, u: 0.5, v: 0.5 }, 7);
  const scales = [0.2, 0.5, 0.8, 1].map((share) => {
    go(share);
    return view.scale;
  });
  assert.deepEqual(scales, [...scales].sort((a, b) => a - b));
  assert.equal(view.scale, 7);
  const { x, y, w, h } = view.boxOf(node);
  const isAtEdge = view.x === 0 || view.y === 0;
  assert.ok(isAtEdge || Math.hypot(x + w / 2 - 720, y + h / 2 - 450) < 1);
});

test('a resize keeps the middle of the view', () => {
  const view = camera();
  view.zoomAt(8, 700, 500);
  const before = view.anchorAt(720, 450);
  view.resize(1500, 940);
  const after = pointOf(view.placement, before);
  assert.ok(Math.hypot(after.x - view.x - 750, after.y - view.y - 470) < 1);
});

test('the file under a pixel is found, and a closed folder hides its files', () => {
  const view = camera();
  const { layout, placement } = view;
  layout.tree.nodeOf.forEach((node) => {
    const { x, y, w, h } = placement;
    assert.equal(nodeAt(layout, placement, x[node] + w[node] / 2, y[node] + h[node] / 2), node);
  });
  const node = layout.tree.nodeOf[7];
  const folder = layout.tree.parent[node];
  const { x, y } = placement;
  assert.equal(nodeAt(layout, placement, x[node] + 0.1, y[node] + 0.1, (at) => at === folder), folder);
  assert.equal(nodeAt(layout, placement, -1, 5), -1);
});
