import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compareIds, files, mergeActivity, MOST_ACTIVITY, readActivity, sentenceOf } from '../../../public/app/activity.js';
import { lockEvent, START } from './events.mjs';

const SHA = '99cc7da9399f806a758cf80dab931201cf07c67e';

test('every kind of event is a sentence', () => {
  const refused = (/** @type {object} */ rest) => lockEvent('lock_refused', 'bob', ['a'], { reason: 'CONFLICT', conflicts: ['a'], conflict_count: 1, ...rest });
  /** @type {[any, string][]} */
  const cases = [
    [lockEvent('lock_granted', 'ada/lexer', ['a', 'b', 'c', 'd'], { file_count: 700 }), 'ada (lexer) claims a, b, c and 697 more for writing'],
    [lockEvent('lock_renewed', 'ada', ['a'], { status: 'READING' }), 'ada renews a for reading'],
    [lockEvent('lock_released', 'ada', ['a', 'b']), 'ada releases a, b'],
    [lockEvent('lock_expired', 'ada', ['a']), 'ada loses a, which expired'],
    [{ type: 'lock_expired', file_count: 700, files: ['a'], time: 1 }, 'The locks on a and 699 more expire'],
    [{ type: 'lock_released', file_count: 1, time: 1 }, 'The locks on 1 file are released'],
    [refused({}), 'bob is refused a (held by another)'],
    [refused({ conflicts: ['b', 'c'], conflict_count: 2 }), 'bob is refused a (b, c are held by another)'],
    [refused({ reason: 'STALE', conflicts: undefined, conflict_count: undefined, repeated: 3 }), 'bob is refused a (the working copy is behind, asked 3 times more)'],
    [refused({ reason: 'A_LATER_ONE', conflicts: undefined }), 'bob is refused a (a_later_one)'],
    [{ type: 'head_moved', branch: 'main', head: SHA, time: 1 }, 'main moves: the head is 99cc7da'],
    [{ type: 'graph_update', branch: 'main', version: SHA, time: 1 }, 'main: the import graph is that of 99cc7da'],
    [{ type: 'a_later_kind', time: 1 }, 'a later kind'],
  ];
  for (const [event, sentence] of cases) assert.equal(sentenceOf(readActivity(event)), sentence);
});

test('an entry has what the event says', () => {
  const event = lockEvent('lock_granted', 'ada/lexer', ['a'], { action: 'PROCEED', at: 1.5 });
  assert.deepEqual(readActivity(event, true), {
    id: `${START + 1500}-0`, kind: 'lock_granted', at: START + 1500, holder: 'ada/lexer', userName: 'ada', agentId: 'lexer', branch: 'main',
    paths: ['a'], fileCount: 1, message: 'ada/lexer works', command: 'PROCEED', detail: 'for writing', isCaughtUp: true,
  });
  assert.equal(readActivity({ type: 'head_moved', branch: 'main', head: SHA, time: 12 }).at, 12_000, 'some events have seconds only');
});

test('files are counted where they are not named', () => {
  assert.equal(files([], 0), '0 files');
  assert.equal(files([], 1), '1 file');
  assert.equal(files(['a', 'b', 'c'], 3), 'a, b, c');
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
  assert.equal(list.length, MOST_ACTIVITY);
  assert.deepEqual([times(list)[0], times(list)[999]], [1799, 800]);
});
