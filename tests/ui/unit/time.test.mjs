import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makeClock } from '../../../public/app/clock.js';
import { badgeOf, holderKey } from '../../../public/app/holder.js';
import { ago, countdown, duration, timeOfDay } from '../../../public/app/time.js';

test('a countdown has minutes and seconds, and ends at zero', () => {
  const cases = [[299_001, '5:00'], [65_000, '1:05'], [1, '0:01'], [0, '0:00'], [-5000, '0:00'], [3_600_000, '1:00:00'], [7_384_000, '2:03:04']];
  for (const [ms, text] of cases) assert.equal(countdown(Number(ms)), text);
});

test('a duration has one unit', () => {
  const cases = [[999, '0 s'], [59_999, '59 s'], [60_000, '1 min'], [3_599_000, '59 min'], [3_600_000, '1 h'], [172_799_000, '47 h'], [172_800_000, '2 d']];
  for (const [ms, text] of cases) assert.equal(duration(Number(ms)), text);
  assert.equal(ago(4999), 'just now');
  assert.equal(ago(180_000), '3 min ago');
});

test('a time of another day has its date', () => {
  const at = new Date(2026, 10, 23, 14, 3, 9).getTime();
  assert.equal(timeOfDay(at), '2026-11-23 14:03:09');
  assert.equal(timeOfDay(at, at + 3_600_000), '14:03:09');
  assert.equal(timeOfDay(at, at + 24 * 3_600_000), '2026-11-23 14:03:09');
});

test('the clock of the server counts, by the sample that was on its way the shortest', () => {
  let local = 1_000_000;
  const server = makeClock(() => local);
  assert.equal(server.now(), 1_000_000);
  server.addSample(1_060_000 - 300);
  server.addSample(1_060_000 - 20);
  server.addSample(1_060_000 - 500);
  assert.equal(server.now(), 1_059_980);
  local += 5000;
  assert.equal(server.now(), 1_064_980);
});

test('a clock that is set anew is followed', () => {
  const server = makeClock(() => 0);
  server.addSample(60_000);
  for (let sample = 0; sample < 8; sample++) server.addSample(1000);
  assert.equal(server.now(), 1000);
});

test('a Date header counts only until there is a better time', () => {
  const server = makeClock(() => 0);
  server.setFromHeader('Thu, 01 Jan 1970 00:01:00 GMT');
  assert.equal(server.now(), 60_500);
  server.addSample(61_234);
  server.setFromHeader('Thu, 01 Jan 1970 00:09:00 GMT');
  server.setFromHeader(null);
  server.setFromHeader('nonsense');
  assert.equal(server.now(), 61_234);
});

test('a badge is the same each time, and says the agent, or the login where there is none', () => {
  assert.equal(holderKey('ada', null), 'ada');
  assert.equal(holderKey('ada', 'lexer'), 'ada/lexer');
  const cases = [['ada', null, 'Ada Lovelace', 'AL'], ['bob', null, 'bob', 'BO'], ['ada/lexer', 'lexer', 'Ada', 'LE'], ['ada/agent-7', 'agent-7', 'Ada', 'A7'], ['ada/agent-12', 'agent-12', 'Ada', 'A12'], ['x', null, '', 'X'], ['李/一', '一', '李', '一']];
  for (const [key, agentId, name, letters] of cases) {
    const badge = badgeOf(String(key), agentId, String(name));
    assert.equal(badge.letters, letters);
    assert.deepEqual(badgeOf(String(key), agentId, String(name)), badge);
  }
});

test('no two agents have the same letters, and as few as can be the same color', () => {
  const names = ['dan', 'dana', 'dave', 'david', 'daniel', 'dax', 'claude-1', 'claude-11', 'codex-1', 'cursor-1', 'agent-1', 'agent-2'];
  const badges = names.map((name) => badgeOf(`root/${name}`, name, 'root'));
  assert.equal(new Set(badges.map(({ letters }) => letters)).size, names.length, badges.map(({ letters }) => letters).join());
  const uses = new Map();
  for (const { slot } of badges) uses.set(slot, (uses.get(slot) ?? 0) + 1);
  assert.equal(uses.size, 8);
  assert.ok(Math.max(...uses.values()) <= 3);
});
