import assert from 'node:assert/strict';
import { test } from 'node:test';

import { agentsOf, noteEvents, REFUSAL_MS } from '../../../public/app/agents.js';
import { readGraph } from '../../../public/app/graph.js';
import { applyToLocks, dropExpired, firstExpiry, isPartial, mergeListedLocks, readLocks } from '../../../public/app/locks.js';
import { blockedNeighbors, neighborsOf } from '../../../public/app/neighbors.js';
import { applyToWaits } from '../../../public/app/waits.js';
import { lockEvent, lockView, START } from './events.mjs';

/** @param {any[]} events */
const locksAfter = (...events) => applyToLocks(new Map(), events);
/** @param {import('../../../public/app/locks.js').Locks} locks */
const summarize = (locks) => Object.fromEntries([...locks].map(([path, held]) => [path, held.map((lock) => `${lock.holder} ${lock.mode}`)]));

test('a claim locks its files, and a release frees them', () => {
  const claimed = locksAfter(lockEvent('lock_granted', 'ada/lexer', ['a', 'b']));
  assert.deepEqual(summarize(claimed), { a: ['ada/lexer WRITING'], b: ['ada/lexer WRITING'] });
  assert.deepEqual(claimed.get('a')?.[0], {
    path: 'a', holder: 'ada/lexer', user: 'ada', userName: 'ada', agentId: 'lexer', mode: 'WRITING', message: 'ada/lexer works', since: START, renewedAt: START, expiry: START + 300_000, intentId: null, keepsInterface: false,
  });
  const left = applyToLocks(claimed, [lockEvent('lock_released', 'ada/lexer', ['a'], { at: 5 })]);
  assert.deepEqual(summarize(left), { b: ['ada/lexer WRITING'] });
  assert.deepEqual(summarize(claimed), { a: ['ada/lexer WRITING'], b: ['ada/lexer WRITING'] }, 'what was shown before is not changed');
});

test('a file has many readers, of whom each leaves alone', () => {
  const reading = { status: 'READING' };
  const three = locksAfter(...['ada', 'bob', 'cyd'].map((user, at) => lockEvent('lock_granted', user, ['a'], { at, ...reading })));
  assert.deepEqual(summarize(three), { a: ['ada READING', 'bob READING', 'cyd READING'] });
  const two = applyToLocks(three, [lockEvent('lock_released', 'bob', ['a'], { at: 5, ...reading })]);
  assert.deepEqual(summarize(two), { a: ['ada READING', 'cyd READING'] });
  const one = applyToLocks(two, [lockEvent('lock_expired', 'ada', ['a'], { at: 9, ...reading })]);
  assert.deepEqual(summarize(one), { a: ['cyd READING'] });
});

test('a reader becomes a writer and a reader again', () => {
  const reads = lockEvent('lock_granted', 'ada', ['a'], { status: 'READING' });
  const writes = lockEvent('lock_granted', 'ada', ['a'], { at: 1 });
  const again = lockEvent('lock_granted', 'ada', ['a'], { at: 2, status: 'READING' });
  assert.deepEqual(summarize(locksAfter(reads, writes)), { a: ['ada WRITING'] });
  assert.deepEqual(summarize(locksAfter(reads, writes, again)), { a: ['ada READING'] });
});

test('a renewal moves the expiry, and keeps the time of the claim', () => {
  const [lock] = locksAfter(lockEvent('lock_granted', 'ada', ['a']), lockEvent('lock_renewed', 'ada', ['a'], { at: 100 })).get('a') ?? [];
  assert.deepEqual([lock.since, lock.renewedAt, lock.expiry], [START, START + 100_000, START + 400_000]);
});

test('an event about an unlocked file, of another kind, or without a holder changes nothing', () => {
  const locks = locksAfter(lockEvent('lock_granted', 'ada', ['a']));
  const events = [
    lockEvent('lock_released', 'bob', ['a'], { at: 1 }),
    lockEvent('lock_released', 'ada', ['z'], { at: 1 }),
    lockEvent('lock_refused', 'bob', ['a'], { at: 1 }),
    { type: 'lock_expired', files: ['a'], file_count: 700, time: START / 1000 + 1 },
    { type: 'a_later_kind', files: ['a'] },
  ];
  assert.equal(applyToLocks(locks, events), locks);
});

test('an event that is older than the list does not bring back what it says', () => {
  const listed = readLocks({ locks: [lockView('ada', 'a', { at: 100 }), lockView('bob', 'b', { at: 100, status: 'READING' })] }, 'main');
  const late = [
    lockEvent('lock_released', 'ada', ['a'], { at: 90 }),
    lockEvent('lock_granted', 'eve', ['a'], { at: 80 }),
    lockEvent('lock_expired', 'bob', ['b'], { at: 99, status: 'READING' }),
  ];
  assert.equal(applyToLocks(listed, late), listed);
  assert.deepEqual(summarize(applyToLocks(listed, [lockEvent('lock_released', 'ada', ['a'], { at: 101 })])), { b: ['bob READING'] });
});

test('a list is of one branch, has all readers, and keeps what the page knows better', () => {
  const body = { locks: [lockView('ada', 'a', { at: 100 }), { ...lockView('eve', 'a'), branch: 'next' }, lockView('bob', 'b', { status: 'READING' }), lockView('cyd', 'b', { status: 'READING' })] };
  const listed = readLocks(body, 'main');
  assert.deepEqual(summarize(listed), { a: ['ada WRITING'], b: ['bob READING', 'cyd READING'] });

  const seen = locksAfter(lockEvent('lock_granted', 'ada', ['a']), lockEvent('lock_granted', 'bob', ['b'], { status: 'READING', at: 0.074 }));
  const merged = mergeListedLocks(seen, listed);
  assert.equal(merged.get('a')?.[0].since, START, 'the claim is older than its renewal');
  assert.equal(merged.get('a')?.[0].expiry, START + 400_000);
  assert.equal(merged.get('b')?.[0].since, START);
});

test('an expired lock is not shown, to the millisecond', () => {
  const locks = locksAfter(lockEvent('lock_granted', 'ada', ['a'], { ttl: 10 }), lockEvent('lock_granted', 'bob', ['b'], { ttl: 20 }));
  assert.equal(firstExpiry(locks), START + 10_000);
  assert.equal(dropExpired(locks, START + 9_999), locks);
  assert.deepEqual(summarize(dropExpired(locks, START + 10_000)), { b: ['bob WRITING'] });
  assert.equal(firstExpiry(dropExpired(locks, START + 20_000)), null);
});

test('the locks are read again after an event that does not name all its files', () => {
  assert.equal(isPartial(lockEvent('lock_granted', 'ada', ['a'])), false);
  assert.equal(isPartial(lockEvent('lock_granted', 'ada', ['a'], { file_count: 21 })), true);
  assert.equal(isPartial({ ...lockEvent('lock_released', 'ada', []), files: undefined, file_count: 1 }), true);
  assert.equal(isPartial({ type: 'lock_expired', files: ['a'], file_count: 1, time: 1 }), true, 'it does not say whose it was');
  assert.equal(isPartial(lockEvent('lock_refused', 'ada', ['a'], { file_count: 21 })), false);
});

const GRAPH = readGraph({
  nodes: ['a', 'b', 'c', 'd'].map((id) => ({ id, size: 10 })), edges: [[0, 1], [2, 1], [3, 0], [1, 1]], version: 'abc', state: 'ready', generated_at: 1,
});

test('a graph has both directions, and sizes that are not known are zero', () => {
  assert.deepEqual(GRAPH?.imports, [[1], [1], [1], [0]]);
  assert.deepEqual(GRAPH?.importers, [[3], [0, 2, 1], [], []]);
  const bare = readGraph({ nodes: [{ id: 'src/x.ts' }], edges: [], version: 'abc', state: 'ready', generated_at: null });
  assert.deepEqual(bare?.files[0], { path: 'src/x.ts', name: 'x.ts', size: 0, language: null, state: null });
  assert.equal(readGraph({ nodes: [], edges: [], version: null, state: 'building', generated_at: null }), null);
});

test('a writer endangers importers and imports, but not its own files, and a reader endangers none', () => {
  assert.deepEqual(Object.fromEntries(neighborsOf(GRAPH, locksAfter(lockEvent('lock_granted', 'ada', ['b'])))), { a: ['b'], c: ['b'] });
  assert.deepEqual(Object.fromEntries(neighborsOf(GRAPH, locksAfter(lockEvent('lock_granted', 'ada', ['a', 'b'])))), { d: ['a'], c: ['b'] });
  assert.equal(neighborsOf(GRAPH, locksAfter(lockEvent('lock_granted', 'ada', ['b'], { status: 'READING' }))).size, 0);
  assert.equal(neighborsOf(GRAPH, locksAfter(lockEvent('lock_granted', 'ada', ['new file']))).size, 0);
  assert.equal(neighborsOf(null, locksAfter(lockEvent('lock_granted', 'ada', ['b']))).size, 0);
});

test('agents have their locks, and the last command that they were given', () => {
  const events = [lockEvent('lock_granted', 'ada', ['b', 'a'], { action: 'PROCEED' }), lockEvent('lock_granted', 'bob', ['c'], { at: 3 })];
  const agents = agentsOf(locksAfter(...events), [], noteEvents(new Map(), events), START);
  assert.deepEqual(agents.map(({ holder, locks, command, expiry }) => [holder, locks.map(({ path }) => path), command, expiry]), [
    ['ada', ['a', 'b'], 'PROCEED', START + 300_000],
    ['bob', ['c'], null, START + 303_000],
  ]);
});

test('a place in the queue is a conflict of both, until the lock or the place ends; a refusal without one is shown for ten minutes', () => {
  const claim = lockEvent('lock_granted', 'ada', ['a', 'b']);
  const refusal = lockEvent('lock_refused', 'bob', ['a'], { at: 5, reason: 'CONFLICT', conflicts: ['a'], conflict_count: 1, action: 'WAIT' });
  const locks = locksAfter(claim);
  const notes = noteEvents(new Map(), [claim, refusal]);
  const waits = applyToWaits([], [claim, refusal]);
  const [ada, bob] = agentsOf(locks, waits, notes, START + 5000);
  assert.deepEqual(ada.conflicts, [{ holder: 'bob', paths: ['a'], isWaiting: false, at: START + 5000 }]);
  assert.deepEqual(bob.conflicts, [{ holder: 'ada', paths: ['a'], isWaiting: true, at: START + 5000 }]);
  assert.deepEqual([bob.locks, bob.command, bob.commandAt, bob.since, bob.expiry], [[], 'WAIT', START + 5000, START + 5000, null]);

  const freed = applyToLocks(locks, [lockEvent('lock_released', 'ada', ['a'], { at: 6 })]);
  assert.deepEqual(agentsOf(freed, waits, notes, START + 6000).flatMap((agent) => agent.conflicts), []);
  const ended = agentsOf(locks, [], notes, START + 6000);
  assert.deepEqual(ended.map(({ holder, wait, conflicts }) => [holder, wait, conflicts]), [['ada', null, []], ['bob', null, []]], 'nobody waits whose place has ended');
  assert.deepEqual(agentsOf(locks, [], notes, START + 5001 + REFUSAL_MS).map(({ holder }) => holder), ['ada']);
});

test('a lock is held since its first claim, whatever is claimed or read after it', () => {
  const [reads, writes] = [lockEvent('lock_granted', 'ada', ['a'], { status: 'READING' }), lockEvent('lock_granted', 'ada', ['a'], { at: 60 })];
  const known = locksAfter(reads, writes);
  assert.equal(known.get('a')?.[0].since, START);
  const list = readLocks({ locks: [lockView('ada', 'a', { at: 90 })] }, 'main');
  assert.equal(mergeListedLocks(known, list).get('a')?.[0].since, START);
});

test('a writer that may change the interface blocks neighbors, if the rules say so', () => {
  const locks = locksAfter(lockEvent('lock_granted', 'ada', ['b']));
  const neighbors = neighborsOf(GRAPH, locks);
  const rules = (/** @type {any} */ kind) => ({ ttl_seconds: 300, neighbors: kind });
  assert.deepEqual([...blockedNeighbors(neighbors, locks, rules('block'))], [...neighbors.keys()]);
  assert.equal(blockedNeighbors(neighbors, locks, null).size, neighbors.size);
  assert.equal(blockedNeighbors(neighbors, locks, rules('warn')).size, 0);
  const kept = readLocks({ locks: [{ ...lockView('ada', 'b'), interface: 'keeps' }] }, 'main');
  assert.equal(blockedNeighbors(neighbors, mergeListedLocks(locks, kept), rules('interface')).size, 0);
});

test('only the 500 holders that acted last are remembered', () => {
  const events = Array.from({ length: 600 }, (_, index) => lockEvent('lock_granted', `user${index}`, ['a'], { at: index }));
  const notes = noteEvents(new Map(), [...events, lockEvent('lock_granted', 'user150', ['a'], { at: 700 }), lockEvent('lock_granted', 'last', ['a'], { at: 701 })]);
  assert.equal(notes.size, 500);
  assert.ok(notes.has('user150') && notes.has('last') && !notes.has('user100'));
});
