// Tasks on the page: what events make of them, in any order; columns; what holds others up.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { pictureOf, tasksBlockedBy, topBlockers } from '../../../public/app/task_graph.js';
import { applyToTasks, columnOf, columnsOf, dependentsOf, firstClaimExpiry, tasksToRead } from '../../../public/app/tasks.js';
import { taskRows } from '../../../public/panels/task_rows.js';
import { START } from './events.mjs';
import { claimedTaskView, taskClaimed, taskCompleted, taskLapsed, taskReleased, tasksOf, taskView, teamEvent } from './teams.mjs';

/** @param {Map<string, import('../../../public/app/team_types.js').Task>} tasks */
const describeTasks = (tasks) => [...tasks.values()].map(({ id, status, owner, lease, lapses, dependencies }) => `${id} ${status} ${owner} ${lease.state} ${lapses} ${dependencies}`);

test('a claim, its expiry, another claim and a completion change a task and the tasks that wait for it', () => {
  const before = tasksOf([taskView('t1', { blocks: ['t2'] }), taskView('t2', { dependencies: ['t1', 't3'] }), taskView('t3')]);
  const claimedTasks = applyToTasks(before, [taskClaimed('t1', 'ann', 4)]);
  assert.deepEqual(describeTasks(claimedTasks)[0], 't1 in_progress ann held 0 ');
  assert.equal(firstClaimExpiry(claimedTasks), START + 1_800_000);
  const lost = applyToTasks(claimedTasks, [taskLapsed('t1', 'ann', 4)]);
  assert.deepEqual([describeTasks(lost)[0], columnOf(/** @type {any} */ (lost.get('t1'))), lost.get('t1')?.previousOwner], ['t1 in_progress null lapsed 1 ', 'ready', 'ann']);
  const done = applyToTasks(lost, [taskClaimed('t1', 'bob', 5), taskCompleted('t1', 'bob', 5), teamEvent('task_unblocked', { task: 't1', tasks: ['t9'], task_count: 1 })]);
  assert.deepEqual(describeTasks(done), ['t1 completed bob none 1 ', 't2 pending null none 0 t3', 't3 pending null none 0 ']);
  assert.deepEqual(done.get('t2')?.met, ['t1']);
  assert.deepEqual(describeTasks(before), ['t1 pending null none 0 ', 't2 pending null none 0 t1,t3', 't3 pending null none 0 '], 'what was given is as it was');
});

test('events that are repeated or late change nothing', () => {
  const tasks = tasksOf([claimedTaskView('t1', 'bob', 5, { lapses: 1 }), taskView('t2', { status: 'completed', owner: 'ann', completedAt: new Date(START).toISOString() })]);
  const late = [taskClaimed('t1', 'ann', 4), taskLapsed('t1', 'ann', 4), taskReleased('t1', 'ann', 4), taskClaimed('t2', 'ann', 3), taskLapsed('t2', 'ann', 3), taskCompleted('t2', 'ann', 3)];
  assert.equal(applyToTasks(tasks, late), tasks);
  const lost = applyToTasks(tasks, [taskLapsed('t1', 'bob', 5)]);
  assert.equal(applyToTasks(lost, [taskLapsed('t1', 'bob', 5), taskClaimed('t1', 'bob', 5), taskReleased('t1', 'bob', 5)]), lost, 'delivered twice');
});

test('whatever of the events a list already has, the end is the same', () => {
  const events = [taskClaimed('t1', 'ann', 1), taskReleased('t1', 'ann', 1), taskClaimed('t1', 'bob', 2), taskLapsed('t1', 'bob', 2), taskClaimed('t1', 'ann', 3), taskCompleted('t1', 'ann', 3)];
  const start = tasksOf([taskView('t1'), taskView('t2', { dependencies: ['t1'] })]);
  const end = describeTasks(applyToTasks(start, events));
  for (let known = 0; known <= events.length; known++) {
    const listed = applyToTasks(start, events.slice(0, known));
    assert.deepEqual(describeTasks(applyToTasks(listed, events)), end, `${known} events known`);
  }
});

test('a deleted task is gone, and nothing depends on it', () => {
  const tasks = applyToTasks(tasksOf([taskView('t1'), taskView('t2', { dependencies: ['t1'] })]), [teamEvent('task_deleted', { task: 't1', title: '' })]);
  assert.deepEqual([describeTasks(tasks), tasks.get('t2')?.met], [['t2 pending null none 0 '], []]);
});

test('what events do not say is read: edits, new tasks, and tasks that are not known', () => {
  const tasks = tasksOf([taskView('t1')]);
  const readsAfter = (/** @type {any[]} */ ...events) => {
    const { ids, hasNew } = tasksToRead(tasks, events);
    return [[...ids], hasNew];
  };
  assert.deepEqual(readsAfter(teamEvent('task_created', { tasks: ['t2'], task_count: 1 })), [[], true]);
  assert.deepEqual(readsAfter(teamEvent('task_created', { tasks: ['t1'], task_count: 1 })), [[], false]);
  assert.deepEqual(readsAfter(teamEvent('task_updated', { task: 't1', title: '' })), [['t1'], false]);
  assert.deepEqual(readsAfter(taskClaimed('t1', 'ann', 1)), [[], false]);
  assert.deepEqual(readsAfter(taskClaimed('t7', 'ann', 1)), [['t7'], false]);
  assert.deepEqual(readsAfter(taskClaimed('t7', 'ann', 1), teamEvent('task_deleted', { task: 't7' })), [[], false]);
  assert.deepEqual(readsAfter(teamEvent('task_unblocked', { task: 't1', tasks: ['t1', 't8'], task_count: 2 })), [['t8'], false]);
});

test('a task that waits or lapsed too often is blocked, an expired or released one is ready, whatever its status', () => {
  const tasks = tasksOf([
    taskView('t1', { dependencies: ['t2'] }), taskView('t2', { priority: 'low' }), taskView('t10', { priority: 'high' }), taskView('t3'), claimedTaskView('t4', 'ann', 1, { dependencies: ['t2'] }),
    taskView('t5', { status: 'in_progress', lapses: 3, lease: { state: 'lapsed' } }), taskView('t6', { status: 'in_progress', lease: { state: 'released' }, previousOwner: 'ann' }),
    taskView('t7', { status: 'completed', owner: 'ann', completedAt: '2026-11-22T09:00:00Z' }), taskView('t8', { status: 'completed', owner: 'ann', completedAt: '2026-11-22T10:00:00Z' }),
  ]);
  const columns = columnsOf(tasks, () => true);
  assert.deepEqual(Object.fromEntries(Object.entries(columns).map(([name, list]) => [name, list.map(({ id }) => id)])), {
    blocked: ['t5', 't1'], ready: ['t10', 't3', 't6', 't2'], in_progress: ['t4'], done: ['t8', 't7'],
  });
  assert.deepEqual(taskRows(tasks, { filter: '', isOnly: true, column: 'status', isDescending: false }).map(({ id }) => id), ['t4', 't2', 't3', 't6', 't10', 't1', 't5']);
  assert.deepEqual(taskRows(tasks, { filter: 'title ANN', isOnly: false, column: 'id', isDescending: true }).map(({ id }) => id), ['t8', 't7', 't4']);
});

/** @param {number} seed */
function randomFrom(seed) {
  let state = seed;
  return (/** @type {number} */ most) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

test('those that hold most others up are found in any graph', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const below = randomFrom(seed);
    const views = Array.from({ length: 40 }, (_, at) => taskView(`t${at + 1}`, {
      dependencies: at === 0 ? [] : [...new Set(Array.from({ length: below(3) }, () => `t${below(at) + 1}`))],
    }));
    const tasks = tasksOf(views);
    const counts = [...tasks.values()].filter(({ dependencies }) => dependencies.length === 0).map(({ id }) => tasksBlockedBy(tasks, id).size).filter((count) => count > 0).sort((a, b) => b - a);
    assert.deepEqual(topBlockers(tasks, 3).map(({ count }) => count), counts.slice(0, 3), `seed ${seed}`);
  }
});

test('a chain of 20,000, a fan and a ring, which cannot be, are counted quickly', () => {
  const chain = tasksOf(Array.from({ length: 20_000 }, (_, at) => taskView(`t${at + 1}`, { dependencies: at === 0 ? [] : [`t${at}`] })));
  const fan = tasksOf([taskView('t0'), ...Array.from({ length: 20_000 }, (_, at) => taskView(`t${at + 1}`, { dependencies: ['t0'] }))]);
  const ring = tasksOf([taskView('t1', { dependencies: ['t2'] }), taskView('t2', { dependencies: ['t1'] })]);
  const start = performance.now();
  assert.deepEqual(topBlockers(chain, 3).map(({ task, count }) => [task.id, count]), [['t1', 19_999]]);
  assert.deepEqual(topBlockers(fan, 3).map(({ task, count }) => [task.id, count]), [['t0', 20_000]]);
  assert.deepEqual(topBlockers(ring, 3), []);
  assert.equal(tasksBlockedBy(ring, 't1').size, 1);
  assert.ok(performance.now() - start < 2000, 'a loaded machine may take a while, but not long');
});

test('the picture has dependencies above and dependents below, in three rows each way, and counts those that it leaves out', () => {
  const tasks = tasksOf([
    taskView('t1'), taskView('t2', { dependencies: ['t1'] }), taskView('t3', { dependencies: ['t2', 't1'] }),
    ...Array.from({ length: 5 }, (_, at) => taskView(`t${at + 4}`, { dependencies: ['t3'] })), taskView('t9', { dependencies: ['t4', 't5'] }),
  ]);
  const { rows, middle, edges } = pictureOf(tasks, /** @type {any} */ (tasks.get('t3')));
  assert.deepEqual(rows.map((row) => row.map(({ id, more }) => (more > 0 ? `+${more}` : id))), [['t2', 't1'], ['t3'], ['t4', 't5', '+3'], ['t9']]);
  assert.equal(middle, 1);
  assert.deepEqual(edges.filter(({ from }) => from[0] === 0).length, 2, 'what it waits for leads to it');
  assert.deepEqual(edges.filter(({ to }) => to[0] === 3).map(({ from }) => from[1]), [0.5 / 3, 1.5 / 3]);
  assert.ok(edges.some(({ from, to }) => from[0] === 1 && to[1] === 2.5 / 3), 'what is left out hangs on it');
  assert.deepEqual(dependentsOf(tasks).get('t1'), ['t2', 't3']);
});
