// Announces important changes: by the title of the window, and to screen readers by a polite live region.

import { shortRepository } from './address.js';
import { nameOf } from './holder.js';
import { noticesOf, statusOf } from './status_sentences.js';

/** @import { Model, State } from './types.js' */

/** Shortest interval between two announcements. */
const PAUSE_MS = 4000;
/** Maximum number of changes in one announcement. */
const MAX_CHANGES = 3;

/** @param {State} state @returns {string[]} A sentence for each agent that waits for another. */
function conflictSentences(state) {
  return state.agents.flatMap((agent) => agent.conflicts
    .filter(({ isWaiting }) => isWaiting)
    .map(({ holder, paths }) => `${nameOf(state, agent.holder)} waits for ${nameOf(state, holder)}: ${paths[0]}.`));
}

/** @param {State} state @param {number} now @returns {string} */
export function titleOf(state, now) {
  const { repoUrl, branch } = state.place;
  if (!repoUrl) return 'Coord';
  const writers = state.agents.filter((agent) => agent.locks.some((lock) => lock.mode === 'WRITING')).length;
  const conflicts = conflictSentences(state).length;
  const { kind, label } = statusOf(state, now);
  const counts = [
    kind === 'live' || kind === 'connecting' ? '' : label.toLowerCase(),
    writers ? `${writers} writing` : '',
    conflicts ? `${conflicts} ${conflicts > 1 ? 'conflicts' : 'conflict'}` : '',
  ].filter(Boolean);
  const name = shortRepository(repoUrl).split('/').pop();
  return `${counts.length ? `(${counts.join(', ')}) ` : ''}${name} ${branch} · Coord`;
}

/** @param {HTMLElement} region @param {Model} model @returns {{ update: () => void }} */
export function mountAnnouncements(region, model) {
  /** @type {string[]} */
  let queue = [];
  /** @type {ReturnType<typeof setTimeout> | null} */
  let timer = null;
  let announcedConflicts = new Set(/** @type {string[]} */ ([]));
  let phase = '';

  function announceQueue() {
    timer = null;
    if (queue.length === 0) return;
    region.textContent = queue.slice(-MAX_CHANGES).join(' ');
    queue = [];
    timer = setTimeout(announceQueue, PAUSE_MS);
  }

  /** @param {string} text */
  function announce(text) {
    queue.push(text);
    timer ??= setTimeout(announceQueue, 0);
  }

  function update() {
    const { state } = model;
    const now = model.now();
    const title = titleOf(state, now);
    if (document.title !== title) document.title = title;
    const conflicts = new Set(conflictSentences(state));
    for (const conflict of conflicts) if (!announcedConflicts.has(conflict)) announce(conflict);
    announcedConflicts = conflicts;
    const [notice] = noticesOf(state, now);
    const { kind, label } = statusOf(state, now);
    const nextPhase = `${kind} ${notice?.kind ?? ''}`;
    if (phase && nextPhase !== phase) announce(notice ? `${notice.title}. ${notice.text}` : `${label}.`);
    phase = nextPhase;
  }
  return { update };
}
