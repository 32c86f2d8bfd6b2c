// How tasks block each other: how many tasks each one blocks, and the picture of a task with its neighbors.

import { columnOf, dependentsOf } from './tasks.js';

/** @typedef {import('./team_types.js').Task} Task */
/** @typedef {Map<string, Task>} Tasks */

/** Bounds the steps of all searches of one ranking to some 50 ms. */
const MAX_STEPS = 1_000_000;

/**
 * @param {Tasks} tasks
 * @param {string} id
 * @returns {Set<string>} The tasks that the task blocks, directly or indirectly.
 */
export function tasksBlockedBy(tasks, id) {
  const dependents = dependentsOf(tasks);
  /** @type {Set<string>} */
  const blocked = new Set();
  const queue = [id];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const dependent of dependents.get(next) ?? []) {
      if (dependent === id || blocked.has(dependent)) continue;
      blocked.add(dependent);
      queue.push(dependent);
    }
  }
  return blocked;
}

/**
 * An upper bound of how many tasks each task blocks. It counts paths, and several paths may lead to one task. A cycle
 * adds nothing.
 * @param {Map<string, string[]>} dependents
 * @returns {(id: string) => number}
 */
function boundOf(dependents) {
  /** @type {Map<string, number>} */
  const bounds = new Map();
  return (first) => {
    /** @type {{ id: string, isDone: boolean }[]} */
    const stack = [{ id: first, isDone: false }];
    for (let step = stack.pop(); step; step = stack.pop()) {
      const next = dependents.get(step.id) ?? [];
      if (step.isDone) bounds.set(step.id, next.reduce((sum, id) => sum + 1 + (bounds.get(id) ?? 0), 0));
      else if (!bounds.has(step.id)) {
        bounds.set(step.id, 0);
        stack.push({ id: step.id, isDone: true });
        for (const id of next) if (!bounds.has(id)) stack.push({ id, isDone: false });
      }
    }
    return bounds.get(first) ?? 0;
  };
}

/**
 * @param {Tasks} tasks
 * @param {number} maxCount
 * @returns {{ task: Task, count: number }[]} The tasks that block the most others. They wait for nothing, or for a
 *   person.
 */
export function topBlockers(tasks, maxCount) {
  const dependents = dependentsOf(tasks);
  const bound = boundOf(dependents);
  const isRoot = (/** @type {Task} */ task) =>
    task.status !== 'completed' && (columnOf(task) !== 'blocked' || task.dependencies.length === 0);
  const candidates = [...dependents.keys()].flatMap((id) => {
    const task = tasks.get(id);
    return task && isRoot(task) ? [{ task, bound: bound(id) }] : [];
  }).sort((a, b) => b.bound - a.bound);
  /** @type {{ task: Task, count: number }[]} */
  const blockers = [];
  let steps = 0;
  for (const { task, bound: atMost } of candidates) {
    if (blockers.length === maxCount && (atMost <= blockers[maxCount - 1].count || steps > MAX_STEPS)) break;
    const count = tasksBlockedBy(tasks, task.id).size;
    steps += count;
    blockers.push({ task, count });
    blockers.sort((a, b) => b.count - a.count || a.task.rank - b.task.rank);
    blockers.length = Math.min(blockers.length, maxCount);
  }
  return blockers;
}

/**
 * A node of the picture: a task, or the number of tasks that its row leaves out.
 * @typedef {{ id: string, more: number, x: number }} Node `x`: its middle, 0 to 1. `more` is 0 for a task.
 * @typedef {{ from: [number, number], to: [number, number] }} Edge Row and `x` of both ends: from a dependency to the
 *   task that waits for it.
 * @typedef {{ rows: Node[][], middle: number, edges: Edge[] }} Picture `middle`: the row of the task itself.
 */

const ROWS = 3;
const NODES_IN_ROW = 3;

/**
 * @param {Tasks} tasks
 * @param {Task} task
 * @returns {Picture} The dependencies, the task itself, and its dependents. Each is in the row nearest to the task.
 */
export function pictureOf(tasks, task) {
  const dependents = dependentsOf(tasks);
  const dependenciesOf = (/** @type {string} */ id) => (id === task.id ? task : tasks.get(id))?.dependencies ?? [];
  const unfinished = task.blocks.filter((id) => tasks.get(id)?.status !== 'completed');
  const before = layersOf(task.id, dependenciesOf);
  const after = layersOf(task.id, (id) => dependents.get(id) ?? (id === task.id ? unfinished : []));
  const middle = before.length;
  const rows = [...before.reverse(), [task.id], ...after].map(nodesOf);
  /** @type {Map<string, [number, number]>} */
  const positions = new Map();
  rows.forEach((row, index) => {
    for (const { id, more, x } of row) if (more === 0) positions.set(id, [index, x]);
  });
  /** @type {Edge[]} */
  const edges = [];
  for (const [id, to] of positions) {
    for (const dependency of dependenciesOf(id)) {
      const from = positions.get(dependency);
      if (from && from[0] < to[0]) edges.push({ from, to });
    }
  }
  rows.forEach((row, index) => {
    const more = row.find((node) => node.more > 0);
    const nextIndex = index < middle ? index + 1 : index - 1;
    const next = rows[nextIndex]?.[0];
    if (!more || !next) return;
    const ends = /** @type {[[number, number], [number, number]]} */ ([[index, more.x], [nextIndex, next.x]]);
    edges.push(index < middle ? { from: ends[0], to: ends[1] } : { from: ends[1], to: ends[0] });
  });
  return { rows, middle, edges };
}

/** @param {string} id @param {(id: string) => string[]} nextOf @returns {string[][]} The nearest first. */
function layersOf(id, nextOf) {
  const visited = new Set([id]);
  /** @type {string[][]} */
  const layers = [];
  let current = [id];
  while (layers.length < ROWS) {
    const layer = [...new Set(current.flatMap(nextOf))].filter((next) => !visited.has(next));
    if (layer.length === 0) break;
    for (const next of layer) visited.add(next);
    layers.push(layer);
    current = layer;
  }
  return layers;
}

/** @param {string[]} ids @returns {Node[]} */
function nodesOf(ids) {
  const isCut = ids.length > NODES_IN_ROW;
  const visible = ids.slice(0, isCut ? NODES_IN_ROW - 1 : NODES_IN_ROW);
  const nodes = visible.map((id) => ({ id, more: 0, x: 0 }));
  if (isCut) nodes.push({ id: '', more: ids.length - visible.length, x: 0 });
  return nodes.map((node, index) => ({ ...node, x: (index + 0.5) / nodes.length }));
}
