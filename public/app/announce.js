// Important changes for those who do not see them: the title of the window, and a polite live region.

import { shortRepository } from './address.js';
import { nameOf } from './names.js';
import { noticesOf, statusOf } from './truth.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').State} State */

/** Shortest interval between two announcements. */
const PAUSE_MS = 4000;
/** Most changes in one announcement. */
const MOST = 3;

/**
 * @param {State} state
 * @returns {{ writers: number, conflicts: string[] }} Conflicts as sentences.
 */
function countsOf(state) {
  const writers = state.agents.filter((agent) => agent.locks.some((lock) => lock.mode === 'WRITING')).length;
  const conflicts = state.agents.flatMap((agent) => agent.conflicts.filter(({ isWaiting }) => isWaiting)
    .map(({ holder, paths }) => `${nameOf(state, agent.holder)} waits for ${nameOf(state, holder)}: ${paths[0]}.`));
  return { writers, conflicts };
}

/**
 * @param {State} state
 * @param {number} now
 * @returns {string}
 */
export function titleOf(state, now) {
  const { repoUrl, branch } = state.place;
  if (!repoUrl) return 'Coord';
  const { writers, conflicts } = countsOf(state);
  const { kind, label } = statusOf(state, now);
  const counts = [
    kind === 'live' || kind === 'connecting' ? '' : label.toLowerCase(),
    writers ? `${writers} writing` : '',
    conflicts.length ? `${conflicts.length} ${conflicts.length > 1 ? 'conflicts' : 'conflict'}` : '',
  ].filter(Boolean);
  const name = shortRepository(repoUrl).split('/').pop();
  return `${counts.length ? `(${counts.join(', ')}) ` : ''}${name} ${branch} · Coord`;
}

/**
 * @param {HTMLElement} region
 * @param {Model} model
 * @returns {{ update: () => void }}
 */
export function mountAnnouncements(region, model) {
  /** @type {string[]} */
  let waiting = [];
  /** @type {ReturnType<typeof setTimeout> | null} */
  let timer = null;
  let known = new Set(/** @type {string[]} */ ([]));
  let phase = '';

  function tell() {
    timer = null;
    if (waiting.length === 0) return;
    region.textContent = waiting.slice(-MOST).join(' ');
    waiting = [];
    timer = setTimeout(tell, PAUSE_MS);
  }
  /** @param {string} text */
  function say(text) {
    waiting.push(text);
    timer ??= setTimeout(tell, 0);
  }

  function update() {
    const { state } = model;
    const now = model.now();
    const title = titleOf(state, now);
    if (document.title !== title) document.title = title;
    const conflicts = new Set(countsOf(state).conflicts);
    for (const conflict of conflicts) if (!known.has(conflict)) say(conflict);
    known = conflicts;
    const [notice] = noticesOf(state, now);
    const { kind, label } = statusOf(state, now);
    const next = `${kind} ${notice?.kind ?? ''}`;
    if (phase && next !== phase) say(notice ? `${notice.title}. ${notice.text}` : `${label}.`);
    phase = next;
  }
  return { update };
}
