import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockLights, pulseOf, strengthOf } from '../../../public/map/lock_lights.js';

/** @param {string} path @param {'WRITING' | 'READING'} mode @returns {[string, any[]]} */
const lockEntry = (path, mode) => [path, [{ path, mode }]];

test('locks that were there at the start do not pulse; a new one does', () => {
  const lights = new LockLights();
  lights.update(new Map([lockEntry('a', 'WRITING')]), new Map(), new Set(), 1000);
  assert.equal(lights.isMoving(1000), false);
  lights.update(new Map([lockEntry('a', 'WRITING'), lockEntry('b', 'READING')]), new Map(), new Set(), 2000);
  const [reading, writing] = lights.current(2000);
  assert.deepEqual([reading.path, writing.path], ['b', 'a'], 'WRITING is drawn last');
  assert.equal(pulseOf(reading, 2000), 1);
  assert.equal(pulseOf(writing, 2000), 0);
  assert.equal(strengthOf(reading, 2000), 1, 'lit at once');
  assert.equal(lights.isMoving(2100), true);
  assert.equal(lights.isMoving(4000), false);
});

test('a renewed lock does not pulse again; one that changes its mode does', () => {
  const lights = new LockLights();
  lights.update(new Map(), new Map(), new Set(), 0);
  lights.update(new Map([lockEntry('a', 'READING')]), new Map(), new Set(), 1000);
  lights.update(new Map([lockEntry('a', 'READING')]), new Map(), new Set(), 3000);
  assert.equal(pulseOf(lights.current(3000)[0], 3000), 0);
  lights.update(new Map([lockEntry('a', 'WRITING')]), new Map(), new Set(), 4000);
  const [light] = lights.current(4000);
  assert.deepEqual([light.mark, pulseOf(light, 4000)], ['WRITING', 1]);
});

test('a lock that ended fades, and is gone', () => {
  const lights = new LockLights();
  lights.update(new Map([lockEntry('a', 'WRITING')]), new Map([['b', ['a']]]), new Set(), 0);
  lights.update(new Map(), new Map(), new Set(), 1000);
  const [first] = lights.current(1100);
  assert.ok(strengthOf(first, 1100) < 1 && strengthOf(first, 1100) > 0);
  assert.equal(lights.current(1600).length, 0);
  assert.equal(lights.isMoving(1600), false);
});

test('a file that is locked is no neighbor; released, it is one again', () => {
  const lights = new LockLights();
  const neighbors = new Map([['a', ['b']]]);
  lights.update(new Map([lockEntry('a', 'READING'), lockEntry('b', 'WRITING')]), neighbors, new Set(['a']), 0);
  assert.deepEqual(lights.current(0).map(({ mark }) => mark), ['READING', 'WRITING']);
  lights.update(new Map([lockEntry('b', 'WRITING')]), neighbors, new Set(['a']), 1000);
  assert.deepEqual(lights.current(1000).map(({ path, mark }) => `${path} ${mark}`), ['a NEIGHBOR', 'b WRITING']);
});

test('an informed neighbor differs from a blocked one, and changes without a pulse', () => {
  const lights = new LockLights();
  const neighbors = new Map([['a', ['c']], ['b', ['c']]]);
  lights.update(new Map([lockEntry('c', 'WRITING')]), neighbors, new Set(['b']), 0);
  assert.deepEqual(lights.current(0).map(({ path, mark }) => `${path} ${mark}`), ['a INFORMED', 'b NEIGHBOR', 'c WRITING']);
  lights.update(new Map([lockEntry('c', 'WRITING')]), neighbors, new Set(), 1000);
  assert.deepEqual(lights.current(1000).map((light) => pulseOf(light, 1000)), [0, 0, 0]);
});
