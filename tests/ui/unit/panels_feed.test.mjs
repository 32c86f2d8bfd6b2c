import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countNewer, describeEvent, feedRows, foldersOf, keyOfEntry, matchesFilter, omitRenewals } from '../../../public/panels/feed.js';

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

test('only refusals of one agent for the same files share a row', () => {
  const cases = [
    ['another agent between', [refusal(), entry({ holder: 'bob' }), refusal()], [2, 1]],
    ['another deed of the same agent between', [refusal(), entry(), refusal()], [1, 1, 1]],
    ['different files', [refusal(), refusal({ paths: ['src/pool.ts'] })], [1, 1]],
    ['claims: each changed something', [entry(), entry()], [1, 1]],
  ];
  for (const [name, entries, counts] of cases) assert.deepEqual(feedRows(entries, ALL).map(({ count }) => count), counts, name);
});

test('a divider stands over the rows of each time offline, with their number', () => {
  const rows = feedRows([entry(), entry({ isCaughtUp: true }), entry({ isCaughtUp: true, holder: 'bob' }), entry()], ALL);
  assert.deepEqual(rows.map(({ type }) => type), ['entry', 'divider', 'entry', 'entry', 'entry']);
  assert.equal(rows[1].count, 2);
  const twice = feedRows([entry({ isCaughtUp: true }), entry(), entry({ isCaughtUp: true })], ALL);
  assert.deepEqual(twice.map(({ type }) => type), ['divider', 'entry', 'entry', 'divider', 'entry']);
});

test('the filter is by holder, folder and kind together', () => {
  const one = refusal({ holder: 'bob/lexer', paths: ['docs/a.md', 'src/api/x.ts'] });
  assert.ok(matchesFilter(one, { holder: 'bob/lexer', folder: 'src/api/', kind: 'refusals' }));
  assert.ok(!matchesFilter(one, { ...ALL, holder: 'bob' }));
  assert.ok(!matchesFilter(one, { ...ALL, folder: 'src/a/' }));
  assert.ok(!matchesFilter(one, { ...ALL, kind: 'claims' }));
  assert.ok(!matchesFilter(entry({ kind: 'lock_renewed' }), { ...ALL, kind: 'claims' }));
  assert.ok(matchesFilter(entry({ kind: 'lock_renewed' }), { ...ALL, kind: 'renewals' }));
});

test('entries newer than the held one are counted; an entry that is gone holds none back', () => {
  const [newest, held, old] = [entry(), entry(), entry()];
  assert.equal(countNewer([newest, held, old], keyOfEntry(held)), 1);
  assert.equal(countNewer([newest], keyOfEntry(held)), 0);
});

test('folders are those of the files and above, each once, and bounded', () => {
  const entries = [entry({ paths: ['src/api/v1/x.ts', 'README.md'] }), entry({ paths: ['src/db.ts'] })];
  assert.deepEqual(foldersOf(entries, 100), ['src/', 'src/api/', 'src/api/v1/']);
  assert.equal(foldersOf(entries, 2).length, 2);
});

test('every kind of event has words', () => {
  const cases = [
    [{ fileCount: 3 }, 'claims 3 files'],
    [{ kind: 'lock_renewed', detail: 'for reading' }, 'renews 1 file for reading'],
    [{ kind: 'lock_expired', holder: null, fileCount: 700 }, 'Locks on 700 files expired'],
    [{ kind: 'lock_reserved', fileCount: 2 }, 'has 2 files reserved'],
    [{ kind: 'team_joined', holder: null }, 'Event: team joined'],
  ];
  for (const [fields, words] of cases) assert.equal(describeEvent(entry(fields)), words);
  assert.equal(describeEvent(entry({ kind: 'lock_released', fileCount: 2 }), true), 'releases it and 1 more');
});

test('events of intents have words, and a filter', () => {
  const about = (kind, fields = {}) => entry({ kind, intentId: 'ONE', fileCount: 0, paths: [], ...fields });
  const events = [about('intent_changed', { detail: 'completes' }), about('file_taken_over', { fileCount: 2 }), about('intent_overlap_allowed'), about('ledger_trimmed', { holder: null })];
  assert.deepEqual(events.map((each) => describeEvent(each)), [
    'completes the intent', 'takes over 2 files for the intent', 'allows the intent to overlap', 'The oldest ledger entries were dropped',
  ]);
  assert.ok(events.every((each) => matchesFilter(each, { ...ALL, kind: 'intents' })));
  assert.ok(!matchesFilter(entry(), { ...ALL, kind: 'intents' }));
});

test('renewals are left out unless they are asked for, or say something new', () => {
  const renewal = (fields = {}) => entry({ kind: 'lock_renewed', ...fields });
  const activity = [renewal({ message: 'Closing the pool' }), renewal(), renewal(), entry()];
  assert.deepEqual(omitRenewals(activity, '').map(({ message }) => message), ['Closing the pool', 'Adding a pool']);
  assert.deepEqual(feedRows(activity, ALL).map(({ entry: { kind } }) => kind), ['lock_renewed', 'lock_granted']);
  assert.equal(feedRows(activity, { ...ALL, kind: 'renewals' }).length, 2, 'those that say the same are one row');
});
