// What needs attention, and that nothing does where nothing is wrong.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attentionOf } from '../../../public/app/attention.js';
import { nameOf } from '../../../public/app/holder.js';
import { initialState, reduce } from '../../../public/app/reduce.js';
import { readTask } from '../../../public/app/tasks.js';
import { readPlace } from '../../../public/app/address.js';
import { lockEvent, START } from './events.mjs';
import { taskView } from './teams.mjs';

const MINUTE = 60_000;

/** A page that follows its events, with these. @param {any[]} events @param {number} now @param {object} [rest] */
function stateOf(events, now, rest = {}) {
  let full = initialState(readPlace('?repo_url=r'), false);
  full = reduce(full, { type: 'connection', change: { phase: 'live', lastMessageAt: now }, now });
  full = reduce(full, { type: 'locks_asked' });
  full = reduce(full, { type: 'locks', locks: new Map(), waits: [], pending: [], now: START });
  full = reduce(full, { type: 'events', events, caughtUpTo: -1, now });
  return { ...full.state, ...rest };
}

const texts = (/** @type {any} */ state, /** @type {number} */ now) => attentionOf(state, now).map(({ kind, text, advice }) => `${kind}: ${text}. ${advice}`);
const claim = (/** @type {string} */ holder, /** @type {string[]} */ files, rest = {}) => lockEvent('lock_granted', holder, files, { ttl: 4000, ...rest });
const refusal = (/** @type {string} */ holder, /** @type {string[]} */ files, /** @type {string[]} */ conflicts, rest = {}) => lockEvent('lock_refused', holder, files, { reason: 'CONFLICT', conflicts, ...rest });

test('nothing needs attention where agents work, nor where nothing is known', () => {
  const events = [claim('ada/dan', ['src/i18n.ts'])];
  assert.deepEqual(texts(stateOf(events, START + MINUTE), START + MINUTE), []);
  const now = START + 2 * MINUTE;
  const stuck = stateOf([...events, refusal('ada/kim', ['src/i18n.ts'], ['src/i18n.ts'])], now);
  assert.equal(texts(stuck, now).length, 1);
  assert.deepEqual(texts({ ...stuck, connection: { ...stuck.connection, phase: 'ended' } }, now), []);
});

test('a blocked agent is listed with the holder of its file, the longest wait first, until its claim is granted', () => {
  const events = [claim('ada/dan', ['src/i18n.ts']), refusal('ada/kim', ['src/i18n.ts'], ['src/i18n.ts'], { at: 10 }), refusal('ada/hal', ['src/App.tsx'], ['src/i18n.ts'], { at: 5 })];
  const now = START + 2 * MINUTE;
  assert.deepEqual(texts(stateOf(events, now), now), [
    "blocked: hal is blocked on App.tsx by dan's i18n.ts, 1 min. Ask dan to push and release.",
    "blocked: kim waits for dan's i18n.ts, 1 min. Ask dan to push and release.",
  ]);
  const freed = [...events, lockEvent('lock_released', 'ada/dan', ['src/i18n.ts'], { at: 20 }), claim('ada/hal', ['src/App.tsx'], { at: 21 }), claim('ada/kim', ['src/i18n.ts'], { at: 21 })];
  assert.deepEqual(texts(stateOf(freed, now), now), []);
});

test('an agent in turn, whose files are reserved, needs nobody', () => {
  const events = [claim('ada/dan', ['a']), refusal('ada/kim', ['b'], ['a']), lockEvent('lock_released', 'ada/dan', ['a'], { at: 20 }), lockEvent('lock_reserved', 'ada/kim', ['b'], { at: 20, ttl: 20 })];
  assert.deepEqual(texts(stateOf(events, START + 25_000), START + 25_000), []);
  assert.deepEqual(texts(stateOf(events, START + 45_000), START + 45_000), ['blocked: kim waits in the queue for b, 45 s. Earlier claims come first.']);
});

test('a lock that is about to expire, and an agent that is silent, are said once for each agent', () => {
  const now = START + 5 * MINUTE;
  const events = [claim('ada/dan', ['src/a.ts', 'src/b.ts'], { ttl: 330 }), claim('ada/eve', ['src/c.ts'], { ttl: 500, at: -60 }), claim('ada/fay', ['src/d.ts'], { ttl: 330 }), lockEvent('lock_renewed', 'ada/fay', ['src/d.ts'], { at: 290, ttl: 330 })];
  assert.deepEqual(texts(stateOf(events, now), now), [
    'expiring: dan has been silent for 5 min; its lock on a.ts expires in 0:30. Any call of dan renews it.',
    'silent: eve has been silent for 6 min and holds c.ts. Check whether eve still runs.',
  ]);
});

test('files that are held for long without a push are named with their holder', () => {
  const now = START + 40 * MINUTE;
  const events = [claim('ada/dan', ['a', 'b']), lockEvent('lock_renewed', 'ada/dan', ['a', 'b'], { at: 39 * 60, ttl: 4000 })];
  assert.deepEqual(texts(stateOf(events, now), now), ['held: dan has held 2 files for 40 min without a push. Ask dan to push.']);
});

test('unmerged changes collide with one another, and with the current writer of the file', () => {
  const change = { message: '', since: START, pullRequest: null };
  const pending = [
    { ...change, path: 'src/a.ts', holder: 'ada/dan', workBranch: 'i18n' }, { ...change, path: 'src/a.ts', holder: 'ada/eve', workBranch: 'plural' },
    { ...change, path: 'src/b.ts', holder: 'ada/dan', workBranch: 'i18n' }, { ...change, path: 'src/c.ts', holder: 'ada/dan', workBranch: 'i18n' },
  ];
  const state = stateOf([claim('ada/fay', ['src/b.ts'])], START + 1000, { pending });
  assert.deepEqual(texts(state, START + 1000), [
    'collision: a.ts: changed by dan on i18n and by eve on plural, not merged. Merge one first, then rebase the other.',
    'collision: b.ts: changed by dan on i18n and by fay now, not merged. Merge one first, then rebase the other.',
  ]);
});

test('a task in progress whose file another agent holds leads to the task', () => {
  const member = (/** @type {string} */ handle) => ({ handle, name: handle, kind: '', login: 'ada', agent: handle, lastSeen: START, isLive: true, hasEnded: false, unread: 0 });
  const team = { name: 'alpha', leader: 'dan', description: '', isStrict: false, closedAt: null, members: [member('dan'), member('eve')], shutdown: null, openTasks: 2, doneTasks: 0 };
  const task = (/** @type {string} */ id, /** @type {string} */ owner) => readTask(taskView(id, { status: 'in_progress', owner, files: ['src/db.ts'], lease: { state: 'held', expires: new Date(START + 9e6).toISOString(), token: 1 } }));
  const state = stateOf([claim('ada/dan', ['src/db.ts'])], START + 1000, { work: { name: 'alpha', team, tasks: [task('t1', 'dan'), task('t2', 'eve')] } });
  const [concern, ...rest] = attentionOf(/** @type {any} */ (state), START + 1000);
  assert.equal(concern.text, 'eve works on t2, but dan holds db.ts');
  assert.deepEqual(concern.place, { view: 'board', team: 'alpha', task: 't2' });
  assert.deepEqual(rest, []);
  const waits = stateOf([claim('ada/dan', ['src/db.ts']), refusal('ada/eve', ['src/db.ts'], ['src/db.ts'])], START + 1000, { work: state.work });
  assert.deepEqual(attentionOf(/** @type {any} */ (waits), START + 1000).map(({ text }) => text), ["eve waits for dan's db.ts, 1 s"], 'said once');
});

test('an agent is named without its login, unless there are several', () => {
  const [one, two] = [stateOf([claim('ada/dan', ['a'])], START), stateOf([claim('ada/dan', ['a']), claim('bob', ['b'])], START)];
  assert.equal(nameOf(one, 'ada/dan'), 'dan');
  assert.equal(nameOf(two, 'ada/dan'), 'dan (ada)');
  assert.equal(nameOf(two, 'bob'), 'bob');
});
