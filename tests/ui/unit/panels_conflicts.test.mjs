import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignLanes, stableOrder, waitsAmong } from '../../../public/panels/conflicts.js';

const agent = (holder, conflicts = []) => ({ holder, conflicts, since: 0 });
const conflict = (holder, isWaiting, paths = ['src/db.ts']) => ({ holder, paths, isWaiting, at: 0 });

test('a wait is one line between its two agents, with the files of both', () => {
  const ada = agent('ada', [conflict('bob', true)]);
  const paths = ['src/db.ts', 'src/pool.ts'];
  assert.deepEqual(waitsAmong([ada, agent('bob', [conflict('ada', false, paths)])]), [{ waiter: 'ada', holder: 'bob', paths }]);
  const mutual = waitsAmong([ada, agent('bob', [conflict('ada', true)])]);
  assert.deepEqual(mutual.map(({ waiter, holder }) => [waiter, holder]), [['ada', 'bob'], ['bob', 'ada']], 'each waits for the other');
  assert.deepEqual(waitsAmong([ada]), [], 'bob is not shown');
});

test('lines that overlap get lanes of their own, and the shorter is nearer', () => {
  assert.deepEqual(assignLanes([{ top: 0, bottom: 300 }, { top: 100, bottom: 200 }, { top: 210, bottom: 290 }]), [1, 0, 0]);
  assert.deepEqual(assignLanes([{ top: 0, bottom: 100 }, { top: 100, bottom: 250 }]), [0, 1], 'they meet in one row');
});

test('rows keep their order, and a new one comes last', () => {
  const shown = stableOrder(['bob', 'ada'], [agent('cleo'), agent('ada'), agent('bob')]);
  assert.deepEqual(shown.map(({ holder }) => holder), ['bob', 'ada', 'cleo']);
});
