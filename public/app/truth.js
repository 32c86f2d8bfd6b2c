// What is true about what is shown, as sentences with a next step.

import { isBoard } from './address.js';
import { lockKnowledge } from './lock_knowledge.js';
import { ago, clock, countdown, duration } from './time.js';

/** @typedef {import('./types.js').State} State */
/** @typedef {import('./types.js').Problem} Problem */

/** A break shorter than this is shown by the status alone, so that nothing jumps. */
const BRIEF_MS = 3000;

/**
 * @typedef {object} Notice
 * @property {string} kind
 * @property {'info' | 'warn' | 'bad'} tone
 * @property {string} title
 * @property {string} text What is so.
 * @property {string} next What to do, or what happens next.
 * @property {'retry' | 'sign_in' | 'choose' | null} action
 * @property {boolean} isPage Whether there is nothing else to show.
 * @property {{ value: number, max: number } | null} progress
 */

/**
 * @typedef {object} Status
 * @property {'none' | 'connecting' | 'live' | 'late' | 'reconnecting' | 'offline' | 'ended'} kind
 * @property {string} label A word or two.
 * @property {string} more Such as the time to the next attempt.
 */

/** @type {Record<Problem['kind'], { tone: Notice['tone'], title: string, next: string, action: Notice['action'] }>} */
const PROBLEMS = {
  no_repository: { tone: 'bad', title: 'No such repository', next: 'Check the address, or choose another repository.', action: 'choose' },
  no_branch: { tone: 'bad', title: 'No such branch', next: 'Choose another branch, or push this one first.', action: 'choose' },
  sign_in: { tone: 'warn', title: 'Sign-in needed', next: 'Paste a token that can read this repository.', action: 'sign_in' },
  forbidden: { tone: 'bad', title: 'No right to see this repository', next: 'Sign in with a token that can read it, or choose another repository.', action: 'sign_in' },
  rate_limited: { tone: 'warn', title: 'Too many requests', next: '', action: 'retry' },
  unavailable: { tone: 'warn', title: 'Not available now', next: '', action: 'retry' },
  misconfigured: { tone: 'bad', title: 'The server is not set up', next: 'Ask the people who run it to set this, then try again.', action: 'retry' },
  invalid: { tone: 'bad', title: 'The server cannot read this address', next: 'Correct the repository or the branch.', action: 'choose' },
};

/**
 * @param {string} text What the server says.
 * @returns {string} With a capital, unless it begins with the name of a field, and a full stop.
 */
export function sentence(text) {
  const begun = text.trim().replace(/^[a-z]+(?= )/, (word) => word[0].toUpperCase() + word.slice(1));
  return !begun || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/**
 * @param {State} state
 * @param {number} now
 * @returns {string} How old what is shown is.
 */
function ageOf({ shownAt, graph, connection }, now) {
  if (shownAt === null) return graph || connection.heardAt !== null ? 'The locks have not been read yet.' : 'Nothing has been read yet.';
  return `Last updated ${clock(shownAt, now)}, ${ago(now - shownAt)}.`;
}

/**
 * @param {number | null} retryAt
 * @param {number} now
 */
function attempt(retryAt, now) {
  const left = retryAt === null ? 0 : retryAt - now;
  return left > 500 ? `Next attempt in ${countdown(left)}.` : 'Trying now.';
}

/**
 * @param {State} state
 * @param {number} now
 * @returns {Status}
 */
export function statusOf(state, now) {
  const { connection, place } = state;
  if (!place.repoUrl) return { kind: 'none', label: '', more: '' };
  const left = connection.retryAt === null ? 0 : connection.retryAt - now;
  switch (connection.phase) {
    case 'live':
      return connection.isLate ? { kind: 'late', label: 'Late', more: '' } : { kind: 'live', label: 'Live', more: '' };
    case 'connecting':
      return { kind: 'connecting', label: 'Connecting', more: '' };
    case 'reconnecting':
      return { kind: 'reconnecting', label: 'Reconnecting', more: left > 500 ? `in ${countdown(left)}` : '' };
    case 'offline':
      return { kind: 'offline', label: 'Offline', more: state.shownAt === null ? '' : `as of ${duration(now - state.shownAt)} ago` };
    default:
      return { kind: 'ended', label: 'Not connected', more: '' };
  }
}

/**
 * @param {State} state
 * @param {number} now
 * @returns {string} The connection as a sentence.
 */
export function connectionSentence(state, now) {
  const { connection } = state;
  switch (connection.phase) {
    case 'live':
      return connection.isLate
        ? 'The server has lost its store: events are late.'
        : `Events arrive as they happen. The server was last heard ${ago(now - (connection.heardAt ?? now))}.`;
    case 'connecting':
      return 'The page is connecting to the server.';
    case 'reconnecting':
      return `The connection broke ${ago(now - connection.since)}. ${ageOf(state, now)} ${attempt(connection.retryAt, now)}`;
    case 'offline':
      return `The server cannot be reached. ${ageOf(state, now)} ${attempt(connection.retryAt, now)}`;
    default:
      return `The page is not connected. ${ageOf(state, now)}`;
  }
}

/**
 * @param {State['progress']} progress
 * @returns {string} How far a build is, as a sentence; nothing where that is not known.
 */
function readSentence(progress) {
  if (!progress || progress.wanted === 0) return '';
  return `${progress.scanned.toLocaleString('en')} of ${progress.wanted.toLocaleString('en')} files are read.`;
}

/**
 * @param {State} state
 * @returns {string} The import graph as a sentence.
 */
export function graphSentence({ graph, graphState, progress, failure }) {
  const read = progress ? ` ${readSentence(progress)}`.trimEnd() : '';
  const failed = failure ? ` The newest build failed: ${sentence(failure)}` : '';
  if (!graph) return graphState === 'building' ? `The import graph is being built.${read}${failed}` : 'The import graph has not been read yet.';
  const size = `${graph.files.length.toLocaleString('en')} files and ${graph.edgeCount.toLocaleString('en')} imports at ${graph.version.slice(0, 7)}`;
  const lacking = graph.bounds.length === 0 ? '' : ` ${boundsSentence(graph.bounds)}`;
  if (graphState !== 'stale') return `The import graph has ${size}.${lacking}${failed}`;
  return `The import graph has ${size}.${lacking} The branch has moved since: a newer graph is being built.${read}${failed}`;
}

/**
 * @param {import('./graph.js').Bound[]} bounds
 * @returns {string} The files that the graph lacks imports of.
 */
function boundsSentence(bounds) {
  const parts = bounds.map(({ bound, files, first }) => {
    const count = files === 1 ? '1 file' : `${files.toLocaleString('en')} files`;
    return `${count} (${bound}: ${first.join(', ')}${files > first.length ? ', ...' : ''})`;
  });
  return `Imports are missing for ${parts.join(' and ')}.`;
}

/** What a written neighbor means for somebody who wants to write. */
const NEIGHBORS = {
  block: 'A file that is being written blocks its neighbors, unless its writer keeps the interface.',
  interface: 'A file that is being written blocks its neighbors, unless its writer keeps the interface.',
  warn: 'Writing a neighbor of a file that is being written only gets a warning.',
  off: 'Neighbors are not checked.',
};

/**
 * @param {State['policy']} policy
 * @returns {string[]} The rules of locking, as sentences.
 */
export function policySentences(policy) {
  if (!policy) return ['The rules have not been read yet.'];
  const { shared, ignore = [], problem } = policy;
  const named = (/** @type {string[]} */ patterns) => patterns.join(', ');
  return [
    `A lock lasts ${policy.ttl_seconds} s unless it is renewed.`,
    NEIGHBORS[policy.neighbors],
    shared === undefined ? 'Shared (not locked): lockfiles, and files that .gitattributes marks as union-merged or generated.' : '',
    shared?.length ? `Shared (not locked): ${named(shared)}.` : '',
    shared?.length === 0 ? 'No files are shared.' : '',
    ignore.length ? `Without locks: ${named(ignore)}.` : '',
    problem ? `The newest rules file is invalid, so the last valid one applies: ${sentence(problem)}` : '',
  ].filter((text) => text !== '');
}

/**
 * What to say where no lock is known.
 * @param {Pick<State, 'connection' | 'problem' | 'locksReadAt' | 'areLocksMissed' | 'shownAt'>} state
 * @param {number} now
 * @param {string} [free] What is said where that means that there is none.
 */
export function nothingLocked(state, now, free = 'Nothing is locked: every file is free.') {
  const { shownAt } = state;
  switch (lockKnowledge(state)) {
    case 'known':
      return free;
    case 'reading':
      return 'Reading the locks.';
    default:
      return shownAt === null ? 'The locks have not been read yet.' : `No locks known; last updated ${clock(shownAt, now)}.`;
  }
}

/**
 * @param {State} state
 * @param {number} now
 * @returns {Notice[]} The gravest first. One with `isPage` stands in place of the map.
 */
export function noticesOf(state, now) {
  if (!state.place.repoUrl) return [];
  const { connection, graph, graphState, progress } = state;
  const isBare = !graph && !isBoard(state.place);
  /** @type {Notice[]} */
  const notices = [];
  if (state.problem) notices.push(problemNotice(state, state.problem, now));

  const isBroken = connection.phase === 'reconnecting' || connection.phase === 'offline';
  if (isBroken && !state.problem && (connection.phase === 'offline' || now - connection.since > BRIEF_MS)) {
    const title = connection.phase === 'offline' ? 'Offline' : 'Reconnecting';
    notices.push(notice(connection.phase, 'warn', title, ageOf(state, now), attempt(connection.retryAt, now), 'retry', isBare));
  }
  if (connection.phase === 'ended' && !state.problem) {
    notices.push(notice('ended', 'warn', 'Not connected', ageOf(state, now), 'Try again to follow the events.', 'retry', isBare));
  }
  if (connection.phase === 'live' && connection.isLate) {
    notices.push(notice('late', 'warn', 'Late', 'The server has lost its store: locks may have changed.', 'Missed events arrive when it is back.', null, false));
  }
  if (notices.some((other) => other.isPage)) return notices;

  // The tasks of a team need no graph.
  if (isBoard(state.place)) return notices;
  const bar = progress && progress.wanted > 0 ? { value: progress.scanned, max: progress.wanted } : null;
  if (!graph) {
    const isBuilding = graphState === 'building';
    const title = isBuilding ? 'The import graph is being built' : 'Reading the import graph';
    const text = !isBuilding ? 'The server is asked for the files and their imports.' : readSentence(progress) || 'The server is listing the files of the branch.';
    const failed = state.failure ? ` The last build failed: ${sentence(state.failure)}` : '';
    notices.push({ ...notice('building', 'info', title, text + failed, 'The map appears by itself.', null, true), progress: bar });
  } else if (graph.files.length === 0) {
    notices.push(notice('empty', 'info', 'No files', `The branch has no files at ${graph.version.slice(0, 7)}.`, 'Push a commit: it appears here by itself.', null, true));
  } else if (state.failure) {
    notices.push(notice('failed', 'warn', 'The import graph is out of date', `The newest build failed: ${sentence(state.failure)}`, `It shows ${graph.version.slice(0, 7)} until a build succeeds.`, null, false));
  }
  if (graph && graph.bounds.length > 0) {
    notices.push(notice('bounds', 'warn', 'The import graph is not complete', boundsSentence(graph.bounds), 'Locks on their neighbors may block nobody.', null, false));
  }
  if (graph && state.policy?.problem) {
    notices.push(notice('policy', 'warn', 'The rules of the repository are invalid', sentence(state.policy.problem), 'The last valid ones apply until a commit fixes the file.', null, false));
  }
  return notices;
}

/**
 * @param {State} state
 * @param {Problem} problem
 * @param {number} now
 */
function problemNotice(state, problem, now) {
  const { tone, title, next, action } = PROBLEMS[problem.kind];
  const isRefused = problem.kind === 'sign_in' && state.isSignedIn;
  const retryAt = problem.retryAt ?? (action === 'retry' ? state.connection.retryAt : null);
  const step = retryAt === null ? next || 'Try again.' : attempt(retryAt, now);
  // What may not be seen any more is not left on the screen.
  const isPage = (!state.graph && !isBoard(state.place)) || ['sign_in', 'forbidden', 'no_repository', 'no_branch'].includes(problem.kind);
  const text = sentence(problem.message);
  return notice(problem.kind, isRefused ? 'bad' : tone, isRefused ? 'The token was not accepted' : title, text, isRefused ? 'Paste another token.' : step, action, isPage);
}

/**
 * @param {string} kind
 * @param {Notice['tone']} tone
 * @param {string} title
 * @param {string} text
 * @param {string} next
 * @param {Notice['action']} action
 * @param {boolean} isPage
 * @returns {Notice}
 */
function notice(kind, tone, title, text, next, action, isPage) {
  return { kind, tone, title, text, next, action, isPage, progress: null };
}
