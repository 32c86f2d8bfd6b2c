// Finds what needs attention now, the most urgent first: agents that are stuck, locks that may be lost, and changes
// that will collide.

import { isBoard } from './address.js';
import { formatCount, formatList, nameOfPath } from './formatting.js';
import { nameOf } from './holder.js';
import { lockKnowledge } from './lock_knowledge.js';
import { isHeld } from './tasks.js';
import { isSameName, memberOf, memberOfHolder } from './teams.js';
import { countdown, duration } from './time.js';
import { findBlockers } from './waits.js';

/** @import { State } from './types.js' */
/** @import { Task, Team } from './team_types.js' */
/** @typedef {ReturnType<typeof findBlockers>[number]} Blocking */

/**
 * @typedef {object} Concern
 * @property {string} key
 * @property {'blocked' | 'expiring' | 'silent' | 'task' | 'collision' | 'held'} kind
 * @property {string} text The problem.
 * @property {string} advice The next step of the user.
 * @property {Partial<import('./types.js').Place>} place Where the page shows more of it.
 * @property {string | null} holder The holder to ask.
 * @property {string[]} paths The files of that holder.
 */

/** A lock with less time left is about to expire. */
const EXPIRING_MS = 60_000;
/** An agent is silent after this share of the time of its lock, within these bounds. */
const SILENT_SHARE = 0.6;
const MIN_SILENT_MS = 120_000;
const MAX_SILENT_MS = 600_000;
/** A holder that writes files for longer without a push blocks others. */
const LONG_MS = 30 * 60_000;

/**
 * @param {State} state
 * @param {number} now
 * @returns {Concern[]} Empty if the page may have missed changes of the locks.
 */
export function attentionOf(state, now) {
  if (lockKnowledge(state) === 'old') return [];
  return [
    ...blockedClaims(state, now), ...quietAgents(state, now), ...taskConcerns(state, now), ...collisions(state),
    ...longHeldLocks(state, now),
  ];
}

/**
 * A sentence, without its full stop, that says which claim waits for whose files.
 * @param {Pick<State, 'hasSeveralLogins'>} state
 * @param {Blocking} blocking
 * @param {string} [name] Of the waiting holder.
 */
export function waitSentence(state, { wait, byHolder }, name = nameOf(state, wait.holder)) {
  const files = formatList(wait.paths.map(nameOfPath));
  if (byHolder.size === 0) return `${name} waits in the queue for ${files}`;
  const blockers = formatList([...byHolder].map(([holder, paths]) =>
    `${nameOf(state, holder)}'s ${formatList(paths.map(nameOfPath))}`), 2);
  const isDirect = wait.blockers.every((path) => wait.paths.includes(path));
  return isDirect ? `${name} waits for ${blockers}` : `${name} is blocked on ${files} by ${blockers}`;
}

/** @param {State} state @param {number} now @returns {Concern[]} The longest first. */
function blockedClaims(state, now) {
  const blockings = findBlockers(state.waits, state.locks);
  return blockings.filter(({ wait }) => (wait.reservedUntil ?? 0) < now).map((blocking) => {
    const { wait, byHolder } = blocking;
    const [[holder, paths] = [null, []]] = byHolder;
    return {
      key: `blocked ${wait.holder}`,
      kind: 'blocked',
      text: `${waitSentence(state, blocking)}, ${duration(now - wait.since)}`,
      advice: holder === null ? 'Earlier claims come first.' : `Ask ${nameOf(state, holder)} to push and release.`,
      place: { agent: wait.holder, view: 'map' },
      holder,
      paths,
    };
  });
}

/**
 * @param {State} state
 * @param {number} now
 * @returns {Concern[]} Agents that are silent, or whose locks are about to expire.
 */
function quietAgents(state, now) {
  /** @type {(Concern & { left: number })[]} */
  const concerns = [];
  for (const { holder, locks, lastActiveAt } of state.agents) {
    if (locks.length === 0) continue;
    const first = locks.reduce((a, b) => (b.expiry < a.expiry ? b : a));
    const [left, silence] = [first.expiry - now, now - lastActiveAt];
    const patience = (first.expiry - first.renewedAt) * SILENT_SHARE;
    const isSilent = silence > Math.min(MAX_SILENT_MS, Math.max(MIN_SILENT_MS, patience));
    const isExpiring = left <= EXPIRING_MS;
    if (!isExpiring && !isSilent) continue;
    const name = nameOf(state, holder);
    const paths = locks.map(({ path }) => path);
    const silent = `${name} has been silent for ${duration(silence)}`;
    const expiring = `lock on ${nameOfPath(first.path)} expires in ${countdown(left)}`;
    const subject = isSilent ? `${silent}; its` : `${name}'s`;
    concerns.push({
      key: `quiet ${holder}`,
      kind: isExpiring ? 'expiring' : 'silent',
      text: isExpiring ? `${subject} ${expiring}` : `${silent} and holds ${formatList(paths.map(nameOfPath))}`,
      advice: isExpiring ? `Any call of ${name} renews it.` : `Check whether ${name} still runs.`,
      place: { agent: holder, view: 'map' },
      holder,
      paths,
      left,
    });
  }
  return concerns.sort((a, b) => a.left - b.left);
}

/** @param {State} state @returns {{ team: Team, tasks: Task[] } | null} */
function workOf({ place, board, work }) {
  if (!isBoard(place)) return work;
  return board.team && { team: board.team, tasks: [...board.tasks.values()] };
}

/**
 * @param {State} state
 * @param {Team | null} team
 * @param {Task} task
 * @returns {{ path: string, holder: string }[]} Its files on this branch that are locked, but not by its owner.
 */
export function lockedForTask({ locks, place }, team, task) {
  if (task.branch !== null && task.branch !== place.branch) return [];
  const isOwner = (/** @type {string} */ holder) => {
    const member = memberOfHolder(team, holder);
    return Boolean(task.owner && member && isSameName(member.handle, task.owner));
  };
  return task.files.flatMap((path) => {
    const lock = locks.get(path)?.find(({ holder }) => !isOwner(holder));
    return lock ? [{ path, holder: lock.holder }] : [];
  });
}

/** @param {State} state @param {number} now @returns {Concern[]} */
function taskConcerns(state, now) {
  const work = workOf(state);
  return work ? work.tasks.filter(isHeld).flatMap((task) => taskConcern(state, work.team, task, now) ?? []) : [];
}

/**
 * @param {State} state
 * @param {Team} team
 * @param {Task} task In progress.
 * @param {number} now
 * @returns {Concern | null}
 */
function taskConcern(state, team, task, now) {
  const { id, owner } = task;
  const place = { view: /** @type {const} */ ('board'), team: team.name, task: id };
  const locked = lockedForTask(state, team, task);
  if (locked.length > 0) {
    const { holder } = locked[0];
    const paths = locked.filter((each) => each.holder === holder).map(({ path }) => path);
    // Another concern already names an agent that waits for the same files.
    const isSameWait = (/** @type {Blocking} */ { wait, byHolder }) =>
      memberOfHolder(team, wait.holder)?.handle === owner
      && paths.every((path) => byHolder.get(holder)?.includes(path));
    if (findBlockers(state.waits, state.locks).some(isSameWait)) return null;
    const name = nameOf(state, holder);
    return {
      key: `task ${id}`,
      kind: 'task',
      text: `${owner} works on ${id}, but ${name} holds ${formatList(paths.map(nameOfPath))}`,
      advice: `Ask ${name} to release, or reassign ${id}.`,
      place,
      holder,
      paths,
    };
  }
  const lastSeen = memberOf(team, owner ?? '')?.lastSeen ?? null;
  if (lastSeen === null || now - lastSeen < MAX_SILENT_MS) return null;
  return {
    key: `task ${id}`,
    kind: 'silent',
    text: `${owner} has ${id} and has been silent for ${duration(now - lastSeen)}`,
    advice: `Check whether ${owner} still runs.`,
    place,
    holder: null,
    paths: [],
  };
}

/** @param {State} state @returns {Concern[]} Unmerged changes of two authors to one file. */
function collisions(state) {
  /** @type {Map<string, { sides: string[], paths: string[] }>} */
  const bySides = new Map();
  const add = (/** @type {string[]} */ sides, /** @type {string} */ path) => {
    const key = sides.join('\n');
    const collision = bySides.get(key);
    if (collision) collision.paths.push(path);
    else bySides.set(key, { sides, paths: [path] });
  };
  const sideOf = (/** @type {import('./pending.js').Pending} */ { holder, workBranch }) =>
    `${nameOf(state, holder)} on ${workBranch}`;
  /** @type {Map<string, typeof state.pending>} */
  const byPath = new Map();
  for (const change of state.pending) byPath.set(change.path, [...(byPath.get(change.path) ?? []), change]);
  for (const [path, changes] of byPath) {
    const sides = [...new Set(changes.map(sideOf))].sort();
    if (sides.length > 1) add(sides, path);
    for (const lock of state.locks.get(path) ?? []) {
      const foreign = changes.find(({ holder }) => holder !== lock.holder);
      if (lock.mode === 'WRITING' && foreign) add([sideOf(foreign), `${nameOf(state, lock.holder)} now`], path);
    }
  }
  return [...bySides.values()].map(({ sides, paths }) => ({
    key: `collision ${sides.join(' ')}`,
    kind: 'collision',
    text: `${formatList(paths.map(nameOfPath))}: changed by ${sides.join(' and by ')}, not merged`,
    advice: 'Merge one first, then rebase the other.',
    place: { file: paths[0], view: 'map' },
    holder: null,
    paths,
  }));
}

/** @param {State} state @param {number} now @returns {Concern[]} The longest first. */
function longHeldLocks(state, now) {
  return state.agents.flatMap(({ holder, locks }) => {
    const written = locks.filter(({ mode }) => mode === 'WRITING');
    const since = Math.min(...written.map((lock) => lock.since));
    const name = nameOf(state, holder);
    return now - since > LONG_MS ? [{ holder, name, paths: written.map(({ path }) => path), since }] : [];
  }).sort((a, b) => a.since - b.since).map(({ holder, name, paths, since }) => ({
    key: `held ${holder}`,
    kind: 'held',
    text: `${name} has held ${formatCount(paths.length, 'file')} for ${duration(now - since)} without a push`,
    advice: `Ask ${name} to push.`,
    place: { agent: holder, view: 'map' },
    holder,
    paths,
  }));
}
