// What the map says in words.

import { nameOf } from '../app/names.js';
import { countdown } from '../app/time.js';
import { nothingLocked } from '../app/truth.js';
import { byteSize, counted } from '../app/words.js';

/** @typedef {import('../app/types.js').Graph} Graph */
/** @typedef {import('../app/types.js').Lock} Lock */

/**
 * @param {Graph} graph
 * @param {number} file
 * @param {Pick<import('../app/types.js').State, 'locks' | 'neighbors' | 'blocked' | 'hasSeveralLogins'>} state
 * @param {number} now
 */
export function fileLines(graph, file, state, now) {
  const { locks, neighbors, blocked } = state;
  const { path, size, language, state: unscanned } = graph.files[file];
  const lines = [[
    size ? byteSize(size) : '',
    language,
    counted(graph.imports[file]?.length ?? 0, 'import'),
    counted(graph.importers[file]?.length ?? 0, 'importer'),
  ].filter(Boolean).join(' · ')];
  if (unscanned) lines.push(`Not scanned: ${unscanned}`);
  for (const lock of locks.get(path) ?? []) {
    lines.push(`${lock.mode} by ${nameOf(state, lock.holder)}, ${countdown(Math.max(0, lock.expiry - now))} left`);
    if (lock.message) lines.push(lock.message);
  }
  const writers = neighbors.get(path);
  if (writers?.length && !locks.has(path)) {
    lines.push(`${blocked.has(path) ? 'Blocked: neighbor' : 'Neighbor'} of ${writers[0]}${writers.length > 1 ? ` and ${counted(writers.length - 1, 'other')}` : ''}`);
  }
  return lines;
}

/**
 * The label of the canvas: numbers only, so that it changes rarely.
 * @param {import('../app/types.js').State} state
 * @param {number} now
 */
export function summary(state, now) {
  const { graph, locks } = state;
  if (!graph || graph.files.length === 0) return 'Map of the repository, without files yet.';
  let writing = 0;
  for (const held of locks.values()) {
    if (held.some(({ mode }) => mode === 'WRITING')) writing += 1;
  }
  const reading = locks.size - writing;
  const locked = `${counted(writing, 'file')} locked for WRITING, ${reading.toLocaleString('en-US')} for READING.`;
  return `Map of ${counted(graph.files.length, 'file')} by folder. ${locks.size > 0 ? locked : nothingLocked(state, now, locked)}`;
}
