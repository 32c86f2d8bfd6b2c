import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compareIds, MAX_ACTIVITY, mergeActivity, readActivity } from '../../../public/app/activity.js';
import { lockEvent, START } from './events.mjs';

const SHA = '99cc7da9399f806a758cf80dab931201cf07c67e';

test('an event has its details in words', () => {
  const refused = (/** @type {object} */ rest) => lockEvent('lock_refused', 'bob', ['a'], { reason: 'CONFLICT', conflicts: ['a'], conflict_count: 1, ...rest });
  /** @type {[any, string | null][]} */
  const cases = [
    [lockEvent('lock_granted', 'ada/lexer', ['a']), 'for writing'],
    [lockEvent('lock_renewed', 'ada', ['a'], { status: 'READING' }), 'for reading'],
    [lockEvent('lock_released', 'ada', ['a']), null],
    [refused({}), 'locked by another agent'],
    [refused({ conflicts: ['b'] }), 'b is locked by another agent'],
    [refused({ conflicts: ['b', 'c'], conflict_count: 2 }), 'b, c are locked by another agent'],
    [refused({ conflicts: ['b', 'c', 'd', 'e'], conflict_count: 30 }), 'b, c, d and 27 more are locked by another agent'],
    [refused({ reason: 'STALE', conflicts: undefined, conflict_count: undefined, repeated: 3 }), 'the working copy is behind, repeated 3 times'],
    [refused({ reason: 'INTENT', code: 'SCOPE_VIOLATION', conflicts: undefined, conflict_count: undefined }), 'outside of the scope of the intent'],
    [refused({ reason: 'INTENT', code: 'A_LATER_CODE', conflicts: undefined, conflict_count: undefined, repeated: 1 }), 'refused by an intent, repeated once'],
    [{ type: 'intent_changed', intent_id: 'INT-1', status: 'COMPLETED', previous: 'IN_PROGRESS', time: 1 }, 'completes'],
    [refused({ reason: 'A_LATER_ONE', conflicts: undefined }), 'a_later_one'],
    [{ type: 'head_moved', branch: 'main', head: SHA, time: 1 }, 'the head is 99cc7da'],
    [{ type: 'graph_update', branch: 'main', version: SHA, time: 1 }, 'the import graph is that of 99cc7da'],
    [{ type: 'a_later_kind', time: 1 }, null],
  ];
  for (const [event, detail] of cases) assert.equal(readActivity(event).detail, detail);
});

test('an entry has what the event says', () => {
  const event = lockEvent('lock_granted', 'ada/lexer', ['a'], { action: 'PROCEED', at: 1.5 });
  assert.deepEqual(readActivity(event, true), {
    id: `${START + 1500}-0`, kind: 'lock_granted', at: START + 1500, holder: 'ada/lexer', userName: 'ada', agentId: 'lexer', branch: 'main',
    paths: ['a'], fileCount: 1, message: 'ada/lexer works', command: 'PROCEED', detail: 'for writing', reason: null, conflicts: [], isForced: false, isPushed: null, isFirst: false, intentId: null, isOfTeam: false, task: null, team: null, isCaughtUp: true,
  });
  assert.equal(readActivity({ type: 'head_moved', branch: 'main', head: SHA, time: 12 }).at, 12_000, 'some events have seconds only');
});

test('ids are in the order of their numbers', () => {
  assert.ok(compareIds('999-9', '1000-0') < 0);
  assert.ok(compareIds('1000-10', '1000-9') > 0);
  assert.equal(compareIds('1000-1', '1000-1'), 0);
});

const entry = (/** @type {number} */ at) => readActivity(lockEvent('lock_granted', 'ada', ['a'], { at }));
const times = (/** @type {import('../../../public/app/types.js').Activity[]} */ list) => list.map(({ at }) => (at - START) / 1000);

test('entries are the newest first, each once, whichever way they come', () => {
  let list = mergeActivity([], [entry(3), entry(1)]);
  list = mergeActivity(list, [entry(5), entry(3), entry(4), entry(5)]);
  assert.deepEqual(times(list), [5, 4, 3, 1]);
  list = mergeActivity(list, [entry(0), entry(2)]);
  assert.deepEqual(times(list), [5, 4, 3, 2, 1, 0]);
  assert.equal(mergeActivity(list, [entry(2)]), list);
});

test('no more than 1,000 entries are kept, and the newest are', () => {
  let list = mergeActivity([], Array.from({ length: 900 }, (_, at) => entry(at)));
  list = mergeActivity(list, Array.from({ length: 900 }, (_, at) => entry(900 + at)));
  assert.equal(list.length, MAX_ACTIVITY);
  assert.deepEqual([times(list)[0], times(list)[999]], [1799, 800]);
});
