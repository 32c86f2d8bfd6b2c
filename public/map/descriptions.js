// The texts of the map.

import { formatBytes, formatCount } from '../app/formatting.js';
import { nameOf } from '../app/holder.js';
import { noLocksSentence } from '../app/status_sentences.js';
import { countdown } from '../app/time.js';

/** @import { Graph, State } from '../app/types.js' */

/**
 * @param {Graph} graph
 * @param {number} file
 * @param {Pick<State, 'locks' | 'neighbors' | 'blocked' | 'hasSeveralLogins'>} state
 * @param {number} now
 */
export function fileLines(graph, file, state, now) {
  const { locks, neighbors, blocked } = state;
  const { path, size, language, state: unscanned } = graph.files[file];
  const lines = [[
    size ? formatBytes(size) : '',
    language,
    formatCount(graph.imports[file]?.length ?? 0, 'import'),
    formatCount(graph.importers[file]?.length ?? 0, 'importer'),
  ].filter(Boolean).join(' · ')];
  if (unscanned) lines.push(`Not scanned: ${unscanned}`);
  for (const lock of locks.get(path) ?? []) {
    lines.push(`${lock.mode} by ${nameOf(state, lock.holder)}, ${countdown(Math.max(0, lock.expiry - now))} left`);
    if (lock.message) lines.push(lock.message);
  }
  const writers = neighbors.get(path);
  if (writers?.length && !locks.has(path)) {
    const more = writers.length > 1 ? ` and ${formatCount(writers.length - 1, 'other')}` : '';
    lines.push(`${blocked.has(path) ? 'Blocked: neighbor' : 'Neighbor'} of ${writers[0]}${more}`);
  }
  return lines;
}

/**
 * The label of the canvas. It has only numbers, so that it changes rarely.
 * @param {State} state
 * @param {number} now
 */
export function mapSummary(state, now) {
  const { graph, locks } = state;
  if (!graph || graph.files.length === 0) return 'Map of the repository, without files yet.';
  const writing = [...locks.values()].filter((pathLocks) => pathLocks.some(({ mode }) => mode === 'WRITING')).length;
  const reading = (locks.size - writing).toLocaleString('en-US');
  const locked = `${formatCount(writing, 'file')} locked for WRITING, ${reading} for READING.`;
  const lockText = locks.size > 0 ? locked : noLocksSentence(state, now, locked);
  return `Map of ${formatCount(graph.files.length, 'file')} by folder. ${lockText}`;
}
