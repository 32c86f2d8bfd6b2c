import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readActivity } from '../../../public/app/activity.js';
import { timelineLanes, totalDuration } from '../../../public/app/timeline_lanes.js';
import { applyToLocks } from '../../../public/app/locks.js';
import { applyToWaits } from '../../../public/app/waits.js';
import { lockEvent, START } from './events.mjs';

const event = (/** @type {string} */ type, /** @type {string} */ holder, /** @type {string[]} */ files, /** @type {number} */ at, rest = {}) => lockEvent(type, holder, files, { at, ...rest });
const refusal = (/** @type {string} */ holder, /** @type {string} */ file, /** @type {number} */ at) => event('lock_refused', holder, [file], at, { reason: 'CONFLICT', conflicts: [file] });
const headMoved = (/** @type {number} */ at) => ({ id: `${START + at * 1000}-9`, type: 'head_moved', branch: 'main', head: 'abcdef0', previous: 'abcdef1', time: START / 1000 + at, time_ms: START + at * 1000 });

/** @param {any[]} events In their order. @param {number} from Seconds. @param {number} now */
function lanesAfter(events, from, now) {
  const state = { activity: events.map((each) => readActivity(each)).reverse(), locks: applyToLocks(new Map(), events), waits: applyToWaits([], events) };
  const { lanes, figures } = timelineLanes(state, START + from * 1000, START + now * 1000);
  const seconds = (/** @type {number} */ at) => (at - START) / 1000;
  return {
    figures,
    lanes: Object.fromEntries(lanes.map(({ holder, held, waited, refused: times, pushed }) => [holder, { held: held.map((span) => [seconds(span.from), seconds(span.to)]), waited: waited.map((span) => [seconds(span.from), seconds(span.to)]), refused: times.map(seconds), pushed: pushed.map(seconds) }])),
  };
}

test('a lane has what an agent held, waited for, was refused and pushed; the figures are those of all', () => {
  const { lanes, figures } = lanesAfter([
    event('lock_granted', 'ada/dan', ['a', 'b'], 0), refusal('ada/kim', 'a', 10), refusal('ada/kim', 'a', 40),
    event('lock_released', 'ada/dan', ['a'], 60, { is_pushed: true }), headMoved(60), event('lock_granted', 'ada/kim', ['a'], 62),
  ], 0, 100);
  assert.deepEqual(lanes['ada/dan'], { held: [[0, 100]], waited: [], refused: [], pushed: [60] });
  assert.deepEqual(lanes['ada/kim'], { held: [[62, 100]], waited: [[10, 62]], refused: [10, 40], pushed: [] });
  assert.deepEqual(figures, { waited: 52_000, refusals: 2, avoided: 1, pushes: 1 });
});

test('a push and an avoided conflict are what the release proves, not a head that moved nearby', () => {
  const withRelease = (/** @type {object} */ rest) => {
    const { lanes, figures } = lanesAfter([event('lock_granted', 'ada/dan', ['a'], 0), refusal('ada/kim', 'a', 10), event('lock_released', 'ada/dan', ['a'], 60, rest), headMoved(61)], 0, 100);
    return [lanes['ada/dan'].pushed, figures.avoided];
  };
  assert.deepEqual(withRelease({ is_pushed: true }), [[60], 1]);
  assert.deepEqual(withRelease({ is_pushed: false }), [[], 0], 'read, unchanged or abandoned');
  assert.deepEqual(withRelease({ forced_by: 'eve' }), [[], 0], 'by force');
  assert.deepEqual(withRelease({}), [[], 0], 'an older version of the server does not say so');
});

test('a branch that is new here was not pushed now', () => {
  assert.equal(lanesAfter([event('lock_granted', 'ada/dan', ['a'], 0), { ...headMoved(61), previous: undefined }], 0, 100).figures.pushes, 0);
});

test('a wait ends when its claim is not made any more, and is not the time until the next', () => {
  const { lanes } = lanesAfter([event('lock_granted', 'ada/dan', ['a'], 0, { ttl: 9000 }), refusal('ada/kim', 'a', 10), refusal('ada/kim', 'a', 600), event('lock_granted', 'ada/kim', ['z'], 605)], 0, 1000);
  assert.deepEqual(lanes['ada/kim'].waited, [[10, 40], [600, 605]]);
});

test('an earlier span begins with the time that is shown; a span that ended before is not shown', () => {
  const { lanes } = lanesAfter([event('lock_granted', 'ada/old', ['z'], 0), event('lock_released', 'ada/old', ['z'], 50), event('lock_granted', 'ada/dan', ['a'], 10, { ttl: 9000 }), event('lock_expired', 'ada/dan', ['a'], 300)], 100, 400);
  assert.deepEqual(lanes, { 'ada/dan': { held: [[100, 300]], waited: [], refused: [], pushed: [] } });
  assert.equal(totalDuration([{ from: 1, to: 3 }, { from: 5, to: 6 }]), 3);
});
