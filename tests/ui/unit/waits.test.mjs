// Places in the queue: from the list and from events, and that none is shown after its end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyToLocks } from '../../../public/app/locks.js';
import { applyToWaits, findBlockers, readWaits } from '../../../public/app/waits.js';
import { lockEvent, lockView, START } from './events.mjs';
import { GRAPH, json, openPage } from './browser.mjs';

const refusal = (/** @type {string} */ holder, /** @type {string[]} */ files, rest = {}) => lockEvent('lock_refused', holder, files, { reason: 'CONFLICT', conflicts: files, ...rest });
const summarize = (/** @type {import('../../../public/app/waits.js').Wait[]} */ waits) => waits.map(({ holder, paths, since }) => [holder, ...paths, (since - START) / 1000]);

test('a refused claim waits since it was first made, however often it is made again', () => {
  const waits = applyToWaits([], [refusal('ada/kim', ['a']), refusal('ada/lea', ['a'], { at: 2 }), refusal('ada/kim', ['a'], { at: 40 })]);
  assert.deepEqual(summarize(waits), [['ada/kim', 'a', 0], ['ada/lea', 'a', 2]]);
});

for (const [what, event] of /** @type {const} */ ([
  ['is granted its files', lockEvent('lock_granted', 'ada/kim', ['a'], { at: 9 })],
  ['claims other files', lockEvent('lock_granted', 'ada/kim', ['z'], { at: 9 })],
  ['releases a file', lockEvent('lock_released', 'ada/kim', ['z'], { at: 9 })],
  ['is refused because its working copy is behind', refusal('ada/kim', ['a'], { at: 9, reason: 'STALE', conflicts: undefined })],
])) {
  test(`a place ends when its holder ${what}`, () => {
    const waits = applyToWaits([], [refusal('ada/kim', ['a']), refusal('ada/lea', ['a'])]);
    assert.deepEqual(applyToWaits(waits, [event]).map(({ holder }) => holder), ['ada/lea']);
  });
}

test('a place outlasts renewals, expiries, and what others do to its holder', () => {
  const waits = applyToWaits([], [refusal('ada/kim', ['a'])]);
  const events = [lockEvent('lock_renewed', 'ada/kim', ['z']), lockEvent('lock_expired', 'ada/kim', ['z']), lockEvent('lock_released', 'ada/kim', ['z'], { forced_by: 'ann' }), lockEvent('lock_granted', 'bob', ['q'])];
  assert.equal(applyToWaits(waits, events), waits);
});

test('files that are reserved say until when', () => {
  const waits = applyToWaits([], [refusal('ada/kim', ['a']), lockEvent('lock_reserved', 'ada/kim', ['a'], { at: 5, ttl: 20 })]);
  assert.equal(waits[0].reservedUntil, START + 25_000);
});

test('a list has the claims of the branch, and whose locks each waits for', () => {
  const claim = { user: 'ada', agent_id: 'kim', user_name: 'Ada', status: 'WRITING', message: 'Plurals', since: START / 1000, branch: 'main', file_paths: ['App.tsx'], waits_for: [{ file_path: 'i18n.ts', user: 'bob' }] };
  const waits = readWaits({ waiting: [claim, { ...claim, branch: 'next' }] }, 'main');
  const locks = applyToLocks(new Map(), [lockEvent('lock_granted', 'bob', ['i18n.ts'])]);
  assert.deepEqual(findBlockers(waits, locks).map(({ wait, byHolder }) => [wait.holder, [...byHolder]]), [['ada/kim', [['bob', ['i18n.ts']]]]]);
});

test('while an agent waits, the list is read again, and a claim that is not made any more is gone', async () => {
  const waiting = [{ user: 'ada', agent_id: 'kim', user_name: 'Ada', status: 'WRITING', message: 'Plurals', since: START / 1000, branch: 'main', file_paths: ['a'], waits_for: [{ file_path: 'a', user: 'bob' }] }];
  const page = openPage({ routes: { graph: () => json(GRAPH, 200, { ETag: 'one' }), locks: () => json({ locks: [lockView('bob', 'a')], waiting }) } });
  page.open();
  await page.timers.advance(100);
  const { model } = page;
  assert.deepEqual(model.state.agents.map(({ holder, wait }) => [holder, wait !== null]), [['ada/kim', true], ['bob', false]]);
  assert.ok(model.state.hasSeveralLogins);
  const before = page.paths('locks');
  waiting.pop();
  await page.timers.advance(11_000);
  assert.equal(page.paths('locks'), before + 1);
  assert.deepEqual(model.state.agents.map(({ holder }) => holder), ['bob']);
  await page.timers.advance(25_000);
  assert.equal(page.paths('locks'), before + 1, 'nobody waits, and nothing is asked');
});
