import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deedOf, feedRows, foldersOf, isShown, keyOfEntry, newerThan, withoutRenewals } from '../../../public/panels/feed.js';

const ALL = { holder: '', folder: '', kind: '' };
let clock = 1_000_000;
const entry = (fields = {}) => {
  clock -= 1000;
  return {
    id: `${clock}-0`, kind: 'lock_granted', at: clock, holder: 'ada', userName: 'Ada', agentId: null, branch: 'main', paths: ['src/db.ts'], fileCount: 1,
    message: 'Adding a pool', command: null, detail: null, isCaughtUp: false, ...fields,
  };
};
const refusal = (fields = {}) => entry({ kind: 'lock_refused', ...fields });

test('repeated refusals are one row with their number and the time of the first', () => {
  const refusals = [refusal(), refusal(), refusal()];
  const rows = feedRows(refusals, ALL);
  assert.equal(rows.length, 1);
  assert.equal(rows[0].count, 3);
  assert.equal(rows[0].key, keyOfEntry(refusals[0]));
  assert.equal(rows[0].firstAt, refusals[2].at);
});

test('another agent between does not end a row of refusals, another deed of the same agent does', () => {
  assert.deepEqual(feedRows([refusal(), entry({ holder: 'bob' }), refusal()], ALL).map(({ count }) => count), [2, 1]);
  assert.deepEqual(feedRows([refusal(), entry(), refusal()], ALL).map(({ count }) => count), [1, 1, 1]);
});

test('refusals of different files are different rows', () => {
  assert.equal(feedRows([refusal(), refusal({ paths: ['src/pool.ts'] })], ALL).length, 2);
});

test('claims are never grouped: each changed something', () => {
  assert.equal(feedRows([entry(), entry()], ALL).length, 2);
});

test('a divider stands over what was caught up, with the number of its rows', () => {
  const rows = feedRows([entry(), entry({ isCaughtUp: true }), entry({ isCaughtUp: true, holder: 'bob' }), entry()], ALL);
  assert.deepEqual(rows.map(({ type }) => type), ['entry', 'divider', 'entry', 'entry', 'entry']);
  assert.equal(rows[1].count, 2);
});

test('each time offline has its own divider', () => {
  const rows = feedRows([entry({ isCaughtUp: true }), entry(), entry({ isCaughtUp: true })], ALL);
  assert.deepEqual(rows.map(({ type }) => type), ['divider', 'entry', 'entry', 'divider', 'entry']);
});

test('the filter is by holder, folder and kind together', () => {
  const one = refusal({ holder: 'bob/lexer', paths: ['docs/a.md', 'src/api/x.ts'] });
  assert.ok(isShown(one, { holder: 'bob/lexer', folder: 'src/api/', kind: 'refusals' }));
  assert.ok(!isShown(one, { ...ALL, holder: 'bob' }));
  assert.ok(!isShown(one, { ...ALL, folder: 'src/a/' }));
  assert.ok(!isShown(one, { ...ALL, kind: 'claims' }));
  assert.ok(!isShown(entry({ kind: 'lock_renewed' }), { ...ALL, kind: 'claims' }));
  assert.ok(isShown(entry({ kind: 'lock_renewed' }), { ...ALL, kind: 'renewals' }));
});

test('what is newer than the held entry is counted; an entry that is gone holds nothing back', () => {
  const [newest, held, old] = [entry(), entry(), entry()];
  assert.equal(newerThan([newest, held, old], keyOfEntry(held)), 1);
  assert.equal(newerThan([newest], keyOfEntry(held)), 0);
});

test('folders are those of the files and above, each once, and bounded', () => {
  const entries = [entry({ paths: ['src/api/v1/x.ts', 'README.md'] }), entry({ paths: ['src/db.ts'] })];
  assert.deepEqual(foldersOf(entries, 100), ['src/', 'src/api/', 'src/api/v1/']);
  assert.equal(foldersOf(entries, 2).length, 2);
});

test('every kind of event has words', () => {
  assert.equal(deedOf(entry({ fileCount: 3 })), 'claims 3 files');
  assert.equal(deedOf(entry({ kind: 'lock_renewed', detail: 'for reading' })), 'renews 1 file for reading');
  assert.equal(deedOf(entry({ kind: 'lock_expired', holder: null, fileCount: 700 })), 'Locks on 700 files expired');
  assert.equal(deedOf(entry({ kind: 'lock_released', fileCount: 2 }), true), 'releases it and 1 more');
  assert.equal(deedOf(entry({ kind: 'lock_reserved', fileCount: 2 })), 'has 2 files reserved');
  assert.equal(deedOf(entry({ kind: 'team_joined', holder: null })), 'Event: team joined');
});

test('what happens to intents is told, and can be filtered by', () => {
  const about = (kind, fields = {}) => entry({ kind, intentId: 'ONE', fileCount: 0, paths: [], ...fields });
  const told = [about('intent_changed', { detail: 'completes' }), about('file_taken_over', { fileCount: 2 }), about('intent_overlap_allowed'), about('ledger_trimmed', { holder: null })];
  assert.deepEqual(told.map((each) => deedOf(each)), [
    'completes the intent', 'takes over 2 files for the intent', 'allows the intent to overlap', 'The oldest ledger entries were dropped',
  ]);
  assert.ok(told.every((each) => isShown(each, { ...ALL, kind: 'intents' })));
  assert.ok(!isShown(entry(), { ...ALL, kind: 'intents' }));
});

test('renewals are left out unless they are asked for, or say something new', () => {
  const renewal = (fields = {}) => entry({ kind: 'lock_renewed', ...fields });
  const activity = [renewal({ message: 'Closing the pool' }), renewal(), renewal(), entry()];
  assert.deepEqual(withoutRenewals(activity, '').map(({ message }) => message), ['Closing the pool', 'Adding a pool']);
  assert.deepEqual(feedRows(activity, ALL).map(({ entry: { kind } }) => kind), ['lock_renewed', 'lock_granted']);
  assert.equal(feedRows(activity, { ...ALL, kind: 'renewals' }).length, 2, 'those that say the same are one row');
});
