// Sentences about how far the page is up to date, each with a next step.

import { isBoard } from './address.js';
import { formatCount } from './formatting.js';
import { lockKnowledge } from './lock_knowledge.js';
import { ago, countdown, duration, timeOfDay } from './time.js';

/** @import { Problem, State } from './types.js' */

/** Only the status shows a shorter break, so that the page does not flicker. */
const BRIEF_MS = 3000;

/**
 * @typedef {object} Notice
 * @property {string} kind
 * @property {'info' | 'warn' | 'bad'} tone
 * @property {string} title
 * @property {string} text The problem.
 * @property {string} next The next step of the user, or of the page.
 * @property {'retry' | 'sign_in' | 'choose' | null} action
 * @property {boolean} isPage Whether it takes the place of the map.
 * @property {{ value: number, max: number } | null} progress
 */

/**
 * @typedef {object} Status
 * @property {'none' | 'connecting' | 'live' | 'late' | 'reconnecting' | 'offline' | 'ended'} kind
 * @property {string} label A word or two.
 * @property {string} more Such as the time to the next attempt.
 */

/** @type {Record<Problem['kind'], Pick<Notice, 'tone' | 'title' | 'next' | 'action'>>} */
const PROBLEMS = {
  no_repository: {
    tone: 'bad',
    title: 'No such repository',
    next: 'Check the address, or choose another repository.',
    action: 'choose',
  },
  no_branch: {
    tone: 'bad',
    title: 'No such branch',
    next: 'Choose another branch, or push this one first.',
    action: 'choose',
  },
  sign_in: {
    tone: 'warn',
    title: 'Sign-in needed',
    next: 'Paste a token that can read this repository.',
    action: 'sign_in',
  },
  forbidden: {
    tone: 'bad',
    title: 'No right to see this repository',
    next: 'Sign in with a token that can read it, or choose another repository.',
    action: 'sign_in',
  },
  rate_limited: { tone: 'warn', title: 'Too many requests', next: '', action: 'retry' },
  unavailable: { tone: 'warn', title: 'Not available now', next: '', action: 'retry' },
  misconfigured: {
    tone: 'bad',
    title: 'The server is not set up',
    next: 'Ask the people who run it to set this, then try again.',
    action: 'retry',
  },
  invalid: {
    tone: 'bad',
    title: 'The server cannot read this address',
    next: 'Correct the repository or the branch.',
    action: 'choose',
  },
};
/** After these problems, the page hides the repository, which the caller may not see, or which no longer exists. */
const HIDING_KINDS = ['sign_in', 'forbidden', 'no_repository', 'no_branch'];

/**
 * @param {string} text Of the server.
 * @returns {string} With a full stop, and a capital unless the text begins with the name of a field.
 */
export function toSentence(text) {
  const capitalized = text.trim().replace(/^[a-z]+(?= )/, (word) => word[0].toUpperCase() + word.slice(1));
  return !capitalized || /[.!?]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}

/** @param {State} state @param {number} now @returns {string} */
function ageSentence({ shownAt, graph, connection }, now) {
  if (shownAt !== null) return `Last updated ${timeOfDay(shownAt, now)}, ${ago(now - shownAt)}.`;
  const isReading = graph || connection.lastMessageAt !== null;
  return isReading ? 'The locks have not been read yet.' : 'Nothing has been read yet.';
}

/** @param {number | null} retryAt @param {number} now */
function attemptSentence(retryAt, now) {
  const left = retryAt === null ? 0 : retryAt - now;
  return left > 500 ? `Next attempt in ${countdown(left)}.` : 'Trying now.';
}

/** @param {State} state @param {number} now @returns {Status} */
export function statusOf(state, now) {
  const { connection, place } = state;
  if (!place.repoUrl) return { kind: 'none', label: '', more: '' };
  const left = connection.retryAt === null ? 0 : connection.retryAt - now;
  const age = state.shownAt === null ? '' : `as of ${duration(now - state.shownAt)} ago`;
  switch (connection.phase) {
    case 'live':
      return connection.isLate ? { kind: 'late', label: 'Late', more: '' } : { kind: 'live', label: 'Live', more: '' };
    case 'connecting':
      return { kind: 'connecting', label: 'Connecting', more: '' };
    case 'reconnecting':
      return { kind: 'reconnecting', label: 'Reconnecting', more: left > 500 ? `in ${countdown(left)}` : '' };
    case 'offline':
      return { kind: 'offline', label: 'Offline', more: age };
    default:
      return { kind: 'ended', label: 'Not connected', more: '' };
  }
}

/** @param {State} state @param {number} now @returns {string} */
export function connectionSentence(state, now) {
  const { phase, isLate, lastMessageAt, since, retryAt } = state.connection;
  switch (phase) {
    case 'live':
      return isLate
        ? 'The server has lost its store: events are late.'
        : `Events arrive as they happen. The server's last message came ${ago(now - (lastMessageAt ?? now))}.`;
    case 'connecting':
      return 'The page is connecting to the server.';
    case 'reconnecting':
      return `The connection broke ${ago(now - since)}. ${ageSentence(state, now)} ${attemptSentence(retryAt, now)}`;
    case 'offline':
      return `The server cannot be reached. ${ageSentence(state, now)} ${attemptSentence(retryAt, now)}`;
    default:
      return `The page is not connected. ${ageSentence(state, now)}`;
  }
}

/** @param {State['progress']} progress @returns {string} Empty if the progress of a build is not known. */
function progressSentence(progress) {
  if (!progress || progress.wanted === 0) return '';
  return `${progress.scanned.toLocaleString('en')} of ${progress.wanted.toLocaleString('en')} files are scanned.`;
}

/** @param {State} state @returns {string} The import graph as sentences. */
export function graphSentence({ graph, graphState, progress, failure }) {
  const failed = failure ? `The newest build failed: ${toSentence(failure)}` : '';
  if (!graph && graphState !== 'building') return 'The import graph has not been read yet.';
  if (!graph) return joinSentences('The import graph is being built.', progressSentence(progress), failed);
  const { files, edgeCount, version, bounds } = graph;
  const size = `${files.length.toLocaleString('en')} files and ${edgeCount.toLocaleString('en')} imports`;
  const sentences = [`The import graph has ${size} at ${version.slice(0, 7)}.`, boundsSentence(bounds)];
  if (graphState === 'stale') {
    sentences.push('The branch has moved since: a newer graph is being built.', progressSentence(progress));
  }
  return joinSentences(...sentences, failed);
}

/** @param {...string} sentences @returns {string} Those that are not empty. */
function joinSentences(...sentences) {
  return sentences.filter((text) => text !== '').join(' ');
}

/**
 * @param {import('./graph.js').Bound[]} bounds
 * @returns {string} Names the files whose imports the graph lacks; empty if it lacks none.
 */
function boundsSentence(bounds) {
  if (bounds.length === 0) return '';
  const parts = bounds.map(({ bound, files, first }) =>
    `${formatCount(files, 'file')} (${bound}: ${first.join(', ')}${files > first.length ? ', ...' : ''})`);
  return `Imports are missing for ${parts.join(' and ')}.`;
}

/** The meaning of each rule for neighbors, for a writer. */
const NEIGHBORS = {
  block: 'A file that is being written blocks its neighbors, unless its writer keeps the interface.',
  interface: 'A file that is being written blocks its neighbors, unless its writer keeps the interface.',
  warn: 'Writing a neighbor of a file that is being written only gets a warning.',
  off: 'Neighbors are not checked.',
};
const DEFAULT_SHARED =
  'Shared (not locked): lockfiles, and files that .gitattributes marks as union-merged or generated.';

/** @param {State['policy']} policy @returns {string[]} The rules of locking, as sentences. */
export function policySentences(policy) {
  if (!policy) return ['The rules have not been read yet.'];
  const { shared, ignore = [], problem } = policy;
  return [
    `A lock lasts ${policy.ttl_seconds} s unless it is renewed.`,
    NEIGHBORS[policy.neighbors],
    shared === undefined ? DEFAULT_SHARED : '',
    shared?.length ? `Shared (not locked): ${shared.join(', ')}.` : '',
    shared?.length === 0 ? 'No files are shared.' : '',
    ignore.length ? `Without locks: ${ignore.join(', ')}.` : '',
    problem ? `The newest rules file is invalid, so the last valid one applies: ${toSentence(problem)}` : '',
  ].filter((text) => text !== '');
}

/**
 * The sentence for a page or a file without locks.
 * @param {Pick<State, 'connection' | 'problem' | 'locksReadAt' | 'areLocksMissed' | 'shownAt'>} state
 * @param {number} now
 * @param {string} [free] The sentence if there are no locks for certain.
 */
export function noLocksSentence(state, now, free = 'Nothing is locked: every file is free.') {
  const { shownAt } = state;
  switch (lockKnowledge(state)) {
    case 'known':
      return free;
    case 'reading':
      return 'Reading the locks.';
    default:
      return shownAt === null
        ? 'The locks have not been read yet.'
        : `No locks known; last updated ${timeOfDay(shownAt, now)}.`;
  }
}

/** @param {State} state @param {number} now @returns {Notice[]} The most serious first. */
export function noticesOf(state, now) {
  if (!state.place.repoUrl) return [];
  const notices = [...problemNotices(state, now), ...connectionNotices(state, now)];
  // The board needs no graph.
  if (isBoard(state.place) || notices.some(({ isPage }) => isPage)) return notices;
  return [...notices, ...graphNotices(state)];
}

/** @type {Notice} */
const EMPTY_NOTICE = {
  kind: '', tone: 'warn', title: '', text: '', next: '', action: null, isPage: false, progress: null,
};

/** @param {Partial<Notice>} fields @returns {Notice} By default a warning above the map, without an action. */
function makeNotice(fields) {
  return { ...EMPTY_NOTICE, ...fields };
}

/** @param {State} state */
function hasNoContent({ graph, place }) {
  return !graph && !isBoard(place);
}

/** @param {State} state @param {number} now @returns {Notice[]} */
function problemNotices(state, now) {
  const { problem, connection, isSignedIn } = state;
  if (!problem) return [];
  const { tone, title, next, action } = PROBLEMS[problem.kind];
  const isPage = hasNoContent(state) || HIDING_KINDS.includes(problem.kind);
  const rest = { kind: problem.kind, text: toSentence(problem.message), action, isPage };
  if (problem.kind === 'sign_in' && isSignedIn) {
    return [makeNotice({ ...rest, tone: 'bad', title: 'The token was not accepted', next: 'Paste another token.' })];
  }
  const retryAt = problem.retryAt ?? (action === 'retry' ? connection.retryAt : null);
  const step = retryAt === null ? next || 'Try again.' : attemptSentence(retryAt, now);
  return [makeNotice({ ...rest, tone, title, next: step })];
}

/** @param {State} state @param {number} now @returns {Notice[]} */
function connectionNotices(state, now) {
  const { phase, since, retryAt, isLate } = state.connection;
  if (phase === 'live') {
    if (!isLate) return [];
    const text = 'The server has lost its store: locks may have changed.';
    return [makeNotice({ kind: 'late', title: 'Late', text, next: 'Missed events arrive when it is back.' })];
  }
  if (state.problem) return [];
  const rest = { text: ageSentence(state, now), action: /** @type {const} */ ('retry'), isPage: hasNoContent(state) };
  const next = attemptSentence(retryAt, now);
  if (phase === 'offline') return [makeNotice({ ...rest, kind: 'offline', title: 'Offline', next })];
  if (phase === 'reconnecting' && now - since > BRIEF_MS) {
    return [makeNotice({ ...rest, kind: 'reconnecting', title: 'Reconnecting', next })];
  }
  if (phase !== 'ended') return [];
  return [makeNotice({ ...rest, kind: 'ended', title: 'Not connected', next: 'Try again to follow the events.' })];
}

/** @param {State} state @returns {Notice[]} */
function graphNotices({ graph, graphState, progress, failure, policy }) {
  if (!graph) {
    const isBuilding = graphState === 'building';
    const failed = failure ? `The last build failed: ${toSentence(failure)}` : '';
    const text = isBuilding
      ? progressSentence(progress) || 'The server is listing the files of the branch.'
      : 'Requesting the files and their imports from the server.';
    return [makeNotice({
      kind: 'building',
      tone: 'info',
      title: isBuilding ? 'The import graph is being built' : 'Reading the import graph',
      text: joinSentences(text, failed),
      next: 'The map appears by itself.',
      isPage: true,
      progress: progress && progress.wanted > 0 ? { value: progress.scanned, max: progress.wanted } : null,
    })];
  }
  /** @type {Notice[]} */
  const notices = [];
  const version = graph.version.slice(0, 7);
  if (graph.files.length === 0) {
    const text = `The branch has no files at ${version}.`;
    const next = 'Push a commit: it appears here by itself.';
    notices.push(makeNotice({ kind: 'empty', tone: 'info', title: 'No files', text, next, isPage: true }));
  } else if (failure) {
    const text = `The newest build failed: ${toSentence(failure)}`;
    const next = `It shows ${version} until a build succeeds.`;
    notices.push(makeNotice({ kind: 'failed', title: 'The import graph is out of date', text, next }));
  }
  if (graph.bounds.length > 0) {
    const text = boundsSentence(graph.bounds);
    const next = 'Locks on their neighbors may block nobody.';
    notices.push(makeNotice({ kind: 'bounds', title: 'The import graph is not complete', text, next }));
  }
  if (policy?.problem) {
    const text = toSentence(policy.problem);
    const next = 'The last valid ones apply until a commit fixes the file.';
    notices.push(makeNotice({ kind: 'policy', title: 'The rules of the repository are invalid', text, next }));
  }
  return notices;
}
