// What tasks wait for each other: how many one holds up, and the picture of a task with what is before and after it.

import { columnOf, dependentsOf } from './tasks.js';

/** @typedef {import('./team_types.js').Task} Task */
/** @typedef {Map<string, Task>} Tasks */

/** Steps of all searches of one ranking: some 50 ms. */
const MOST_STEPS = 1_000_000;

/**
 * @param {Tasks} tasks
 * @param {string} id
 * @returns {Set<string>} All that waits for it, through others too.
 */
export function heldUpBy(tasks, id) {
  const dependents = dependentsOf(tasks);
  /** @type {Set<string>} */
  const reached = new Set();
  const queue = [id];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const other of dependents.get(next) ?? []) {
      if (other === id || reached.has(other)) continue;
      reached.add(other);
      queue.push(other);
    }
  }
  return reached;
}

/**
 * At least as many as wait for each task: ways, of which several may lead to the same task. One that is on its way again adds none.
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
      const after = dependents.get(step.id) ?? [];
      if (step.isDone) bounds.set(step.id, after.reduce((sum, other) => sum + 1 + (bounds.get(other) ?? 0), 0));
      else if (!bounds.has(step.id)) {
        bounds.set(step.id, 0);
        stack.push({ id: step.id, isDone: true });
        for (const other of after) if (!bounds.has(other)) stack.push({ id: other, isDone: false });
      }
    }
    return bounds.get(first) ?? 0;
  };
}

/**
 * @param {Tasks} tasks
 * @param {number} most
 * @returns {{ task: Task, count: number }[]} The tasks that wait for nothing, or for a person, and for which the most others wait: where help moves most.
 */
export function mostHoldingUp(tasks, most) {
  const dependents = dependentsOf(tasks);
  const bound = boundOf(dependents);
  const isRoot = (/** @type {Task} */ task) => task.status !== 'completed' && (columnOf(task) !== 'blocked' || task.dependencies.length === 0);
  const candidates = [...dependents.keys()].flatMap((id) => {
    const task = tasks.get(id);
    return task && isRoot(task) ? [{ task, most: bound(id) }] : [];
  }).sort((one, other) => other.most - one.most);
  /** @type {{ task: Task, count: number }[]} */
  const found = [];
  let steps = 0;
  for (const { task, most: atMost } of candidates) {
    if (found.length === most && (atMost <= found[most - 1].count || steps > MOST_STEPS)) break;
    const count = heldUpBy(tasks, task.id).size;
    steps += count;
    found.push({ task, count });
    found.sort((one, other) => other.count - one.count || one.task.rank - other.task.rank);
    found.length = Math.min(found.length, most);
  }
  return found;
}

/**
 * A node of the picture: a task, or how many more its row has.
 * @typedef {{ id: string, more: number, x: number }} Node `x`: its middle, 0 to 1. `more` is 0 for a task.
 * @typedef {{ from: [number, number], to: [number, number] }} Edge Row and `x` of both ends, from what is waited for to what waits.
 * @typedef {{ rows: Node[][], middle: number, edges: Edge[] }} Picture `middle`: the row of the task itself.
 */

const ROWS = 3;
const IN_ROW = 3;

/**
 * @param {Tasks} tasks
 * @param {Task} task
 * @returns {Picture} Row by row, what it waits for, itself, and what waits for it: each task in the row that is nearest.
 */
export function pictureOf(tasks, task) {
  const dependents = dependentsOf(tasks);
  const before = layersOf(task.id, (id) => (id === task.id ? task : tasks.get(id))?.dependencies ?? []);
  const after = layersOf(task.id, (id) => dependents.get(id) ?? (id === task.id ? task.blocks.filter((each) => tasks.get(each)?.status !== 'completed') : []));
  const layers = [...before.reverse(), [task.id], ...after];
  const middle = before.length;
  const rows = layers.map((layer) => spread(layer));
  const shown = new Map(rows.flatMap((row, place) => row.flatMap((node) => (node.more === 0 ? [/** @type {const} */ ([node.id, /** @type {[number, number]} */ ([place, node.x])])] : []))));
  /** @type {Edge[]} */
  const edges = [];
  for (const [id, to] of shown) {
    for (const other of (id === task.id ? task : tasks.get(id))?.dependencies ?? []) {
      const from = shown.get(other);
      if (from && from[0] < to[0]) edges.push({ from, to });
    }
  }
  rows.forEach((row, place) => {
    const more = row.find((node) => node.more > 0);
    const next = place < middle ? rows[place + 1][0] : rows[place - 1]?.[0];
    if (!more || !next) return;
    const ends = /** @type {[[number, number], [number, number]]} */ ([[place, more.x], [place < middle ? place + 1 : place - 1, next.x]]);
    edges.push(place < middle ? { from: ends[0], to: ends[1] } : { from: ends[1], to: ends[0] });
  });
  return { rows, middle, edges };
}

/** @param {string} id @param {(id: string) => string[]} nextOf @returns {string[][]} The nearest first. */
function layersOf(id, nextOf) {
  const met = new Set([id]);
  /** @type {string[][]} */
  const layers = [];
  let current = [id];
  while (layers.length < ROWS) {
    const layer = [...new Set(current.flatMap(nextOf))].filter((other) => !met.has(other));
    if (layer.length === 0) break;
    for (const other of layer) met.add(other);
    layers.push(layer);
    current = layer;
  }
  return layers;
}

/** @param {string[]} ids @returns {Node[]} */
function spread(ids) {
  const isCut = ids.length > IN_ROW;
  const shown = ids.slice(0, isCut ? IN_ROW - 1 : IN_ROW);
  const nodes = shown.map((id) => ({ id, more: 0, x: 0 }));
  if (isCut) nodes.push({ id: '', more: ids.length - shown.length, x: 0 });
  return nodes.map((node, place) => ({ ...node, x: (place + 0.5) / nodes.length }));
}
