import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lanesOf, stableOrder, waitsAmong } from '../../../public/panels/conflicts.js';

const agent = (holder, conflicts = []) => ({ holder, conflicts, since: 0 });
const conflict = (holder, isWaiting, paths = ['src/db.ts']) => ({ holder, paths, isWaiting, at: 0 });

test('a wait that both sides tell is one wait, with the files of both', () => {
  const waits = waitsAmong([agent('ada', [conflict('bob', true)]), agent('bob', [conflict('ada', false, ['src/db.ts', 'src/pool.ts'])])]);
  assert.deepEqual(waits, [{ waiter: 'ada', holder: 'bob', paths: ['src/db.ts', 'src/pool.ts'] }]);
});

test('two agents that wait for each other are two waits', () => {
  const waits = waitsAmong([agent('ada', [conflict('bob', true)]), agent('bob', [conflict('ada', true)])]);
  assert.deepEqual(waits.map(({ waiter, holder }) => [waiter, holder]), [['ada', 'bob'], ['bob', 'ada']]);
});

test('a wait for an agent that is not shown has no line', () => {
  assert.deepEqual(waitsAmong([agent('ada', [conflict('bob', true)])]), []);
});

test('lines that overlap get lanes of their own, and the shorter is nearer', () => {
  assert.deepEqual(lanesOf([{ top: 0, bottom: 300 }, { top: 100, bottom: 200 }, { top: 210, bottom: 290 }]), [1, 0, 0]);
});

test('lines that meet in one row do not share a lane', () => {
  assert.deepEqual(lanesOf([{ top: 0, bottom: 100 }, { top: 100, bottom: 250 }]), [0, 1]);
});

test('rows keep their order, and a new one comes last', () => {
  const shown = stableOrder(['bob', 'ada'], [agent('cleo'), agent('ada'), agent('bob')]);
  assert.deepEqual(shown.map(({ holder }) => holder), ['bob', 'ada', 'cleo']);
});
