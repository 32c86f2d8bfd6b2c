// What the map says in words.

import { countdown } from '../app/time.js';

/** @typedef {import('../app/types.js').Graph} Graph */
/** @typedef {import('../app/types.js').Lock} Lock */

/** @param {number} bytes */
export function sizeText(bytes) {
  if (!bytes) return '';
  if (bytes < 1000) return `${bytes} B`;
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : [bytes / 1e6, 'MB'];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export function countText(count, one, many = `${one}s`) {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

/**
 * @param {Graph} graph
 * @param {number} file
 * @param {{ locks: Map<string, Lock[]>, neighbors: Map<string, string[]> }} state
 * @param {number} now
 */
export function fileLines(graph, file, { locks, neighbors }, now) {
  const { path, size, language, state } = graph.files[file];
  const lines = [[
    sizeText(size),
    language,
    countText(graph.imports[file]?.length ?? 0, 'import'),
    countText(graph.importers[file]?.length ?? 0, 'importer'),
  ].filter(Boolean).join(' · ')];
  if (state) lines.push(`Not scanned: ${state}`);
  for (const lock of locks.get(path) ?? []) {
    const holder = lock.agentId ? `${lock.userName} (${lock.agentId})` : lock.userName;
    lines.push(`${lock.mode} by ${holder}, ${countdown(Math.max(0, lock.expiry - now))} left`);
    if (lock.message) lines.push(lock.message);
  }
  const writers = neighbors.get(path);
  if (writers?.length && !locks.has(path)) {
    lines.push(`NEIGHBOR of ${writers[0]}${writers.length > 1 ? ` and ${countText(writers.length - 1, 'other')}` : ''}`);
  }
  return lines;
}

/**
 * The label of the canvas: numbers only, so that it changes rarely.
 * @param {Graph | null} graph
 * @param {Map<string, Lock[]>} locks
 */
export function summary(graph, locks) {
  if (!graph || graph.files.length === 0) return 'Map of the repository, without files yet.';
  let writing = 0;
  for (const held of locks.values()) {
    if (held.some(({ mode }) => mode === 'WRITING')) writing += 1;
  }
  const reading = locks.size - writing;
  return `Map of ${countText(graph.files.length, 'file')} by folder. `
    + `${countText(writing, 'file')} locked for WRITING, ${reading.toLocaleString('en-US')} for READING.`;
}
