import assert from 'node:assert/strict';
import { test } from 'node:test';

import { agentsOf, noteEvents } from '../../../public/app/agents.js';
import { openRefusals } from '../../../public/app/intent_refusals.js';
import { budgetLabel, changeVerb, criteriaLabel, refusalLabel } from '../../../public/app/intent_labels.js';
import { applyToIntents, emptyIntents, filesOf, intentName, readIntents, sortIntents, workersOf } from '../../../public/app/intents.js';
import { applyToLocks } from '../../../public/app/locks.js';
import { lockEvent, START } from './events.mjs';
import { intentsBody, intentView } from './intents.mjs';

const read = () => readIntents(intentsBody(), 'main');
const intentChanged = (/** @type {object} */ rest) => ({ type: 'intent_changed', user: 'ada', user_name: 'ada', time: START / 1000, ...rest });
const refusal = (/** @type {string} */ holder, /** @type {object} */ rest = {}) => lockEvent('lock_refused', holder, ['a'], { reason: 'INTENT', code: 'SCOPE_VIOLATION', conflicts: ['a'], conflict_count: 1, ...rest });

test('an intent has all that the server says, and lists where it says nothing', () => {
  const { phase, list } = read();
  assert.equal(phase, 'shown');
  assert.deepEqual(list[0].criteria, [{ text: 'Tests pass', met: { by: 'ada', at: 'then', evidence: 'npm test' } }, { text: 'It is documented', met: null }]);
  assert.deepEqual([list[0].turns, list[0].tokens, list[0].lastActiveAt], [{ used: 3, most: 10 }, { used: 500, most: null }, START]);
  const bare = readIntents({ intents: [{ id: 'BARE', status: 'PENDING' }] }, 'main').list[0];
  assert.deepEqual([bare.name, bare.scope, bare.constraints, bare.criteria, bare.missing, bare.turns, bare.lastActiveAt, bare.ownedFiles], ['', [], [], [], [], null, null, 0]);
});

test('a repository without intents shows none', () => {
  assert.equal(readIntents({ intents: [], state: 'REQUEST' }, 'main').phase, 'none');
});

test('the files of an intent are those of its owners, sorted; a file can have two', () => {
  const intents = read();
  assert.deepEqual(filesOf(intents, 'ONE'), ['a', 'b']);
  assert.deepEqual(filesOf(intents, 'TWO'), ['b']);
  assert.deepEqual(filesOf(intents, null), []);
});

test('an intent is named by its id where it has no name, or is not known', () => {
  const intents = read();
  assert.deepEqual(['ONE', 'TWO', 'THREE'].map((id) => intentName(intents, id)), ['The first', 'TWO', 'THREE']);
});

test('intents in progress are first, then blocked, then pending ones; the last ended is first of the ended', () => {
  const body = { intents: ['PENDING', 'BLOCKED', 'COMPLETED', 'IN_PROGRESS', 'ABANDONED', 'IN_PROGRESS'].map((status, index) => intentView(`I${index}`, { status })) };
  const { active, ended } = sortIntents(readIntents(body, 'main').list);
  assert.deepEqual(active.map(({ id }) => id), ['I3', 'I5', 'I1', 'I0']);
  assert.deepEqual(ended.map(({ id }) => id), ['I4', 'I2']);
});

test('an event says the status and the reason at once, and the reason goes with what it was for', () => {
  const blocked = applyToIntents(read(), [intentChanged({ intent_id: 'ONE', status: 'BLOCKED', previous: 'IN_PROGRESS', reason: 'spent' })]);
  assert.deepEqual([blocked.list[0].status, blocked.list[0].reason], ['BLOCKED', 'spent']);
  const free = applyToIntents(blocked, [intentChanged({ intent_id: 'ONE', status: 'IN_PROGRESS', previous: 'BLOCKED' })]);
  assert.deepEqual([free.list[0].status, free.list[0].reason], ['IN_PROGRESS', null]);
  assert.equal(read().list[0].status, 'IN_PROGRESS', 'what was shown before is not changed');
});

test('a claim for an intent makes it an owner and active; reading does not, nor does an old claim', () => {
  const intents = read();
  const claimed = applyToIntents(intents, [lockEvent('lock_granted', 'bob', ['c', 'a'], { at: 9, intent_id: 'ONE' })]);
  assert.deepEqual(filesOf(claimed, 'ONE'), ['a', 'b', 'c']);
  assert.equal(claimed.list[0].lastActiveAt, START + 9000);
  const reading = applyToIntents(intents, [lockEvent('lock_granted', 'bob', ['c'], { at: 9, intent_id: 'ONE', status: 'READING' })]);
  assert.deepEqual(filesOf(reading, 'ONE'), ['a', 'b']);
  assert.equal(applyToIntents(intents, [lockEvent('lock_renewed', 'bob', ['a'], { at: -9, intent_id: 'ONE' })]), intents);
});

test('events of other things, of unknown intents, and before the intents are known change nothing', () => {
  const intents = read();
  assert.equal(applyToIntents(intents, [lockEvent('lock_granted', 'bob', ['c']), intentChanged({ intent_id: 'NEW', status: 'PENDING' })]), intents);
  const unknown = emptyIntents();
  assert.equal(applyToIntents(unknown, [intentChanged({ intent_id: 'ONE', status: 'BLOCKED' })]), unknown);
});

test('holders of locks for an intent are its workers: once each, other branches with their names, and not when expired', () => {
  const lock = (/** @type {string} */ holder, /** @type {string | null} */ intentId) => ({ holder, userName: holder, agentId: null, intentId });
  const state = /** @type {any} */ ({ locks: new Map([['a', [lock('ada', 'ONE')]], ['b', [lock('ada', 'ONE')]], ['c', [lock('bob', null)]]]), intents: read() });
  assert.deepEqual(workersOf(state, 'ONE', START).map(({ holder, branch }) => [holder, branch]), [['ada', null], ['cyd/two', 'next']]);
  assert.deepEqual(workersOf(state, 'ONE', START + 400_000).map(({ holder }) => holder), ['ada']);
  assert.deepEqual(workersOf(state, 'TWO', START), []);
});

test('the latest refusal by an intent is open until the holder is granted a lock for writing', () => {
  const open = (/** @type {any[]} */ ...events) => openRefusals(noteEvents(new Map(), events), []).map(({ holder, code }) => `${holder} ${code}`);
  assert.deepEqual(open(refusal('ada'), refusal('bob', { at: 1 }), refusal('ada', { at: 2, code: 'FILE_OWNED' })), ['ada FILE_OWNED', 'bob SCOPE_VIOLATION']);
  assert.deepEqual(open(refusal('ada'), lockEvent('lock_granted', 'ada', ['b'], { at: 1 })), []);
  assert.deepEqual(open(refusal('ada'), lockEvent('lock_granted', 'ada', ['b'], { at: 1, status: 'READING' })), ['ada SCOPE_VIOLATION']);
  assert.deepEqual(open(refusal('ada'), lockEvent('lock_granted', 'ada/other', ['b'], { at: 1 })), ['ada SCOPE_VIOLATION']);
  assert.deepEqual(open(lockEvent('lock_refused', 'ada', ['a'], { reason: 'CONFLICT', conflicts: ['a'] })), [], 'refused by a lock');
});

test('an open refusal names the files that are its reason, and is the same list while nothing changes', () => {
  const notes = noteEvents(new Map(), [lockEvent('lock_refused', 'ada/one', ['a', 'b', 'c'], { reason: 'INTENT', code: 'FILE_OWNED', conflicts: ['b'], conflict_count: 1, action: 'SWITCH_TASK' })]);
  const before = openRefusals(notes, []);
  assert.deepEqual(before, [{ holder: 'ada/one', userName: 'ada', agentId: 'one', code: 'FILE_OWNED', paths: ['b'], fileCount: 1, command: 'SWITCH_TASK', at: START }]);
  assert.equal(openRefusals(notes, before), before);
  const notesOfAll = noteEvents(new Map(), [lockEvent('lock_refused', 'ada', ['a', 'b'], { reason: 'INTENT', code: 'INTENT_REQUIRED' })]);
  assert.deepEqual(openRefusals(notesOfAll, []).map(({ paths, fileCount }) => [paths, fileCount]), [[['a', 'b'], 2]], 'all of them, where none is named');
});

test('a budget has its spent share: a warning from 80 percent on, and never all before it is all', () => {
  /** @type {[number, number | null, string, string][]} */
  const cases = [
    [12, null, '12, no limit', 'free'],
    [7, 10, '7 of 10', 'free'],
    [8, 10, '8 of 10: 80 % spent', 'low'],
    [399_999, 400_000, '399,999 of 400,000: 99 % spent', 'low'],
    [10, 10, '10 of 10: spent', 'spent'],
    [1100, 1000, '1,100 of 1,000: spent', 'spent'],
  ];
  for (const [used, most, text, level] of cases) {
    const words = budgetLabel({ used, most });
    assert.deepEqual([words.text, words.level], [text, level]);
    assert.ok(words.share === null || words.share <= 1);
  }
});

test('criteria, refusals and changes have words, unknown ones too', () => {
  assert.equal(criteriaLabel(read().list[0].criteria), '1 of 2 criteria met');
  assert.equal(criteriaLabel([{ text: 'One', met: null }]), '0 of 1 criterion met');
  assert.equal(refusalLabel('CIRCUIT_OPEN'), 'the same call too often in a row');
  assert.equal(refusalLabel('A_LATER_ONE'), 'refused by an intent');
  const verbs = [['PENDING', undefined], ['IN_PROGRESS', 'PENDING'], ['IN_PROGRESS', 'BLOCKED'], ['IN_PROGRESS', undefined], ['BLOCKED', 'IN_PROGRESS'], ['COMPLETED', 'IN_PROGRESS'], ['ABANDONED', 'PENDING'], ['LATER', 'PENDING']];
  assert.deepEqual(verbs.map(([status, previous]) => changeVerb({ status: status ?? '', previous })), ['writes', 'begins', 'unblocks', 'edits', 'blocks', 'completes', 'abandons', 'changes']);
});

test('a holder that an intent refused is shown, and waits for no lock', () => {
  const granted = lockEvent('lock_granted', 'bob', ['a'], { status: 'READING' });
  const notes = noteEvents(new Map(), [granted, refusal('ada', { at: 1, code: 'FILE_OWNED' })]);
  const agents = agentsOf(applyToLocks(new Map(), [granted]), [], notes, START + 2000);
  assert.deepEqual(agents.map(({ holder, conflicts }) => [holder, conflicts]), [['bob', []], ['ada', []]]);
});
