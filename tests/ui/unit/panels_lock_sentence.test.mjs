import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimSignature } from '../../../public/panels/claim_signature.js';
import { formatBytes, formatCount, splitPath, textFilter } from '../../../public/app/formatting.js';
import { shareLeft } from '../../../public/panels/elements.js';
import { lockSentence, spokenTimeLeft } from '../../../public/panels/lock_sentence.js';

const lock = (fields = {}) => ({ path: 'src/db.ts', holder: 'bob/lexer', mode: 'WRITING', message: 'Adding pooling', since: 0, renewedAt: 0, expiry: 240_000, ...fields });

test('a locked file says all that matters', () => {
  assert.equal(lockSentence('src/db.ts', [lock()], 0), 'src/db.ts, WRITING by bob/lexer, for Adding pooling, expires in 4 minutes');
  const readers = [lock({ mode: 'READING' }), lock({ mode: 'READING', holder: 'ada', expiry: 60_000 })];
  assert.equal(lockSentence('src/db.ts', readers, 0), 'src/db.ts, READING by bob/lexer, ada, the first expires in 1 minute');
});

test('spoken times change with the minutes', () => {
  assert.equal(spokenTimeLeft(59_000), 'expires in less than a minute');
  assert.equal(spokenTimeLeft(0), 'expired');
});

test('the bar of a lock is full when it was just renewed, and empty when it expired', () => {
  const renewed = lock({ renewedAt: 100_000, expiry: 400_000 });
  assert.equal(shareLeft(renewed, 100_000), 1);
  assert.equal(shareLeft(renewed, 250_000), 0.5);
  assert.equal(shareLeft(renewed, 500_000), 0);
});

test('sizes and numbers', () => {
  assert.deepEqual([0, 999, 1500, 300_000, 5_000_000].map(formatBytes), ['0 B', '999 B', '1.5 kB', '300 kB', '5.0 MB']);
  assert.equal(formatCount(1, 'file'), '1 file');
  assert.equal(formatCount(20_000, 'file'), '20,000 files');
});

test('a path is a folder with its slash, and a name', () => {
  assert.deepEqual(splitPath('src/api/x.ts'), ['src/api/', 'x.ts']);
  assert.deepEqual(splitPath('README.md'), ['', 'README.md']);
});

test('a filter wants all of its words', () => {
  assert.ok(textFilter('API x')('src/api/x.ts'));
  assert.ok(!textFilter('api y')('src/api/x.ts'));
  assert.ok(textFilter('  ')('anything'));
});

const graph = { version: 'c1', files: [{ path: 'a.ts' }, { path: 'b.ts' }, { path: 'c.ts' }], indexOf: new Map([['a.ts', 0], ['b.ts', 1], ['c.ts', 2]]), imports: [[1], [], []], importers: [[], [0], []] };

test('a claim is checked again when a lock on the file or a neighbor changes, and not for others', () => {
  const connection = /** @type {any} */ ({ phase: 'live', isLate: false });
  const before = claimSignature({ graph, connection, locks: new Map() }, 'a.ts');
  assert.equal(claimSignature({ graph, connection, locks: new Map([['c.ts', [lock()]]]) }, 'a.ts'), before);
  const held = claimSignature({ graph, connection, locks: new Map([['b.ts', [lock()]]]) }, 'a.ts');
  assert.notEqual(held, before);
  assert.equal(claimSignature({ graph, connection, locks: new Map([['b.ts', [lock({ expiry: 999_999 })]]]) }, 'a.ts'), held, 'a renewal changes nothing about it');
  assert.notEqual(claimSignature({ graph, connection: { ...connection, phase: 'reconnecting' }, locks: new Map() }, 'a.ts'), before, 'a server that is gone has no answer');
});
