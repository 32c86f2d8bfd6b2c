// What somebody should look at now, the most urgent first: who is stuck, what is about to be lost, and what will collide.

import { isBoard } from './address.js';
import { lockKnowledge } from './lock_knowledge.js';
import { memberOfHolder } from './members.js';
import { nameOf } from './names.js';
import { isHeld } from './tasks.js';
import { memberOf } from './teams.js';
import { countdown, duration } from './time.js';
import { blockedBy } from './waits.js';
import { counted, listed, nameOfPath } from './words.js';

/** @typedef {import('./types.js').State} State */
/** @typedef {import('./types.js').Agent} Agent */

/**
 * @typedef {object} Concern
 * @property {string} key
 * @property {'blocked' | 'expiring' | 'silent' | 'task' | 'collision' | 'held'} kind
 * @property {string} text What is so.
 * @property {string} advice What can be done.
 * @property {Partial<import('./types.js').Place>} place Where it leads.
 * @property {string | null} holder Whom to ask.
 * @property {string[]} paths The files of that holder that it is about.
 */

/** A lock that has so little time left is about to expire. */
const EXPIRING_MS = 60_000;
/** An agent that was not heard for this share of its time is silent: between these bounds. */
const SILENT_SHARE = 0.6;
const [LEAST_SILENT_MS, MOST_SILENT_MS] = [120_000, 600_000];
/** Files that are written for so long without a push are in others' way. */
const LONG_MS = 30 * 60_000;

/**
 * @param {State} state
 * @param {number} now
 * @returns {Concern[]} None where the locks are not known: what is shown may be over.
 */
export function attentionOf(state, now) {
  if (lockKnowledge(state) === 'old') return [];
  return [...blocked(state, now), ...quiet(state, now), ...tasks(state, now), ...collisions(state), ...held(state, now)];
}

/**
 * Who is kept from what by whom, as a sentence without its end.
 * @param {Pick<State, 'hasSeveralLogins'>} state
 * @param {ReturnType<typeof blockedBy>[number]} blocking
 * @param {string} [name] Of the one who waits.
 */
export function waitSentence(state, { wait, byHolder }, name = nameOf(state, wait.holder)) {
  const blockers = listed([...byHolder].map(([holder, paths]) => `${nameOf(state, holder)}'s ${listed(paths.map(nameOfPath))}`), 2);
  if (byHolder.size === 0) return `${name} waits in the queue for ${listed(wait.paths.map(nameOfPath))}`;
  const isDirect = wait.blockers.every((path) => wait.paths.includes(path));
  return isDirect ? `${name} waits for ${blockers}` : `${name} is blocked on ${listed(wait.paths.map(nameOfPath))} by ${blockers}`;
}

/** @param {State} state @param {number} now @returns {Concern[]} The longest first. */
function blocked(state, now) {
  return blockedBy(state.waits, state.locks).filter(({ wait }) => (wait.reservedUntil ?? 0) < now).map((blocking) => {
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

/** @param {State} state @param {number} now @returns {Concern[]} Agents whose locks are about to expire, or that are silent. */
function quiet(state, now) {
  /** @type {(Concern & { left: number })[]} */
  const found = [];
  for (const agent of state.agents) {
    if (agent.locks.length === 0) continue;
    const first = agent.locks.reduce((one, other) => (other.expiry < one.expiry ? other : one));
    const [left, silence] = [first.expiry - now, now - agent.heardAt];
    const patience = Math.min(MOST_SILENT_MS, Math.max(LEAST_SILENT_MS, (first.expiry - first.renewedAt) * SILENT_SHARE));
    const isSilent = silence > patience;
    if (left > EXPIRING_MS && !isSilent) continue;
    const name = nameOf(state, agent.holder);
    const files = listed(agent.locks.map(({ path }) => nameOfPath(path)));
    const silent = `${name} has been silent for ${duration(silence)}`;
    found.push({
      key: `quiet ${agent.holder}`,
      kind: left <= EXPIRING_MS ? 'expiring' : 'silent',
      text: left <= EXPIRING_MS ? `${isSilent ? `${silent}; its` : `${name}'s`} lock on ${nameOfPath(first.path)} expires in ${countdown(left)}` : `${silent} and holds ${files}`,
      advice: left <= EXPIRING_MS ? `Any call of ${name} renews it.` : `Check whether ${name} still runs.`,
      place: { agent: agent.holder, view: 'map' },
      holder: agent.holder,
      paths: agent.locks.map(({ path }) => path),
      left,
    });
  }
  return found.sort((one, other) => one.left - other.left);
}

/** @param {State} state @returns {{ team: import('./team_types.js').Team, tasks: import('./team_types.js').Task[] } | null} */
function workOf({ place, board, work }) {
  if (!isBoard(place)) return work;
  return board.team && { team: board.team, tasks: [...board.tasks.values()] };
}

/**
 * @param {State} state
 * @param {import('./team_types.js').Team | null} team
 * @param {import('./team_types.js').Task} task
 * @returns {{ path: string, holder: string }[]} Its files that somebody else than its owner has locked on this branch.
 */
export function lockedForTask({ locks, place }, team, task) {
  if (task.branch !== null && task.branch !== place.branch) return [];
  return task.files.flatMap((path) => (locks.get(path) ?? []).filter(({ holder }) => !task.owner || memberOfHolder(team, holder)?.handle.toLowerCase() !== task.owner.toLowerCase()).slice(0, 1).map(({ holder }) => ({ path, holder })));
}

/** @param {State} state @param {number} now @returns {Concern[]} */
function tasks(state, now) {
  const work = workOf(state);
  return work ? work.tasks.filter(isHeld).flatMap((task) => taskConcern(state, work.team, task, now) ?? []) : [];
}

/**
 * @param {State} state
 * @param {import('./team_types.js').Team} team
 * @param {import('./team_types.js').Task} task In progress.
 * @param {number} now
 * @returns {Concern | null}
 */
function taskConcern(state, team, task, now) {
  const about = { key: `task ${task.id}`, place: { view: /** @type {const} */ ('board'), team: team.name, task: task.id } };
  const taken = lockedForTask(state, team, task);
  if (taken.length > 0) {
    const { holder } = taken[0];
    const paths = taken.filter((each) => each.holder === holder).map(({ path }) => path);
    // An agent that waits for the same files is named already.
    const isKnown = (/** @type {ReturnType<typeof blockedBy>[number]} */ { wait, byHolder }) => memberOfHolder(team, wait.holder)?.handle === task.owner && paths.every((path) => byHolder.get(holder)?.includes(path));
    if (blockedBy(state.waits, state.locks).some(isKnown)) return null;
    const name = nameOf(state, holder);
    return { ...about, kind: 'task', holder, paths, text: `${task.owner} works on ${task.id}, but ${name} holds ${listed(paths.map(nameOfPath))}`, advice: `Ask ${name} to release, or reassign ${task.id}.` };
  }
  const seen = memberOf(team, task.owner ?? '')?.lastSeen ?? null;
  if (seen === null || now - seen < MOST_SILENT_MS) return null;
  return { ...about, kind: 'silent', holder: null, paths: [], text: `${task.owner} has ${task.id} and has been silent for ${duration(now - seen)}`, advice: `Check whether ${task.owner} still runs.` };
}

/** @param {State} state @returns {Concern[]} Changes that are not merged yet, where two touch one file. */
function collisions(state) {
  /** @type {Map<string, { sides: string[], paths: string[] }>} */
  const found = new Map();
  const add = (/** @type {string[]} */ sides, /** @type {string} */ path) => {
    const key = sides.join('\n');
    const known = found.get(key);
    if (known) known.paths.push(path);
    else found.set(key, { sides, paths: [path] });
  };
  /** @type {Map<string, typeof state.pending>} */
  const byPath = new Map();
  for (const change of state.pending) byPath.set(change.path, [...(byPath.get(change.path) ?? []), change]);
  for (const [path, changes] of byPath) {
    const sides = [...new Set(changes.map(({ holder, workBranch }) => `${nameOf(state, holder)} on ${workBranch}`))].sort();
    if (sides.length > 1) add(sides, path);
    for (const lock of state.locks.get(path) ?? []) {
      const others = changes.filter(({ holder }) => holder !== lock.holder);
      if (lock.mode === 'WRITING' && others.length > 0) add([`${nameOf(state, others[0].holder)} on ${others[0].workBranch}`, `${nameOf(state, lock.holder)} now`], path);
    }
  }
  return [...found.values()].map(({ sides, paths }) => ({
    key: `collision ${sides.join(' ')}`,
    kind: 'collision',
    text: `${listed(paths.map(nameOfPath))}: changed by ${sides.join(' and by ')}, not merged`,
    advice: 'Merge one first, then rebase the other.',
    place: { file: paths[0], view: 'map' },
    holder: null,
    paths,
  }));
}

/** @param {State} state @param {number} now @returns {Concern[]} The longest first. */
function held(state, now) {
  return state.agents.flatMap((agent) => {
    const written = agent.locks.filter(({ mode }) => mode === 'WRITING');
    const since = Math.min(...written.map((lock) => lock.since));
    return now - since > LONG_MS ? [{ agent, written, since }] : [];
  }).sort((one, other) => one.since - other.since).map(({ agent, written, since }) => ({
    key: `held ${agent.holder}`,
    kind: 'held',
    text: `${nameOf(state, agent.holder)} has held ${counted(written.length, 'file')} for ${duration(now - since)} without a push`,
    advice: `Ask ${nameOf(state, agent.holder)} to push.`,
    place: { agent: agent.holder, view: 'map' },
    holder: agent.holder,
    paths: written.map(({ path }) => path),
  }));
}
