// Intents as the page shows them, from `GET /api/intents?view=state` and from events. Nothing here changes what it is given.

import { holderKey } from './holder.js';
import { timeOf } from './locks.js';

/** @typedef {import('./types.js').Intent} Intent */
/** @typedef {import('./types.js').Intents} Intents */
/** @typedef {import('./types.js').Worker} Worker */

/** Events after which the intents are read again. */
const CHANGES = new Set(['intent_changed', 'intent_overlap_allowed', 'file_taken_over']);
const ENDED = new Set(['COMPLETED', 'ABANDONED']);
/** What is worked on comes first, then what waits for a person, then what has not begun. */
const ORDER = ['IN_PROGRESS', 'BLOCKED', 'PENDING'];

/** @returns {Intents} Those of a repository of which nothing is known yet. */
export function unknownIntents() {
  return { phase: 'unknown', list: [], owners: new Map(), elsewhere: [], message: null };
}

/**
 * @param {any} body The answer of `GET /api/intents?view=state`.
 * @param {string} branch The branch that is shown.
 * @returns {Intents}
 */
export function readIntents(body, branch) {
  const list = body.intents.map(readIntent);
  const elsewhere = (body.locks ?? []).filter((/** @type {any} */ lock) => lock.intent_id && lock.branch !== branch).map(workerOf);
  return { phase: list.length > 0 ? 'shown' : 'none', list, owners: new Map(Object.entries(body.owners ?? {})), elsewhere, message: null };
}

/** @param {any} lock @returns {Worker & { intentId: string, expiry: number }} */
function workerOf(lock) {
  const { user, user_name: userName, agent_id: agentId = null, branch } = lock;
  return { holder: holderKey(user, agentId), userName, agentId, branch, intentId: lock.intent_id, expiry: lock.expiry * 1000 };
}

/** @param {any} view @returns {Intent} */
function readIntent(view) {
  const met = new Map((view.criteria ?? []).map((/** @type {any} */ each) => [each.criterion, { by: each.by, at: each.at, evidence: each.evidence }]));
  const { budget } = view;
  return {
    id: view.id,
    name: view.name ?? '',
    description: view.description ?? '',
    status: view.status,
    constraints: view.constraints ?? [],
    scope: view.owned_scope ?? [],
    criteria: (view.acceptance_criteria ?? []).map((/** @type {string} */ text) => ({ text, met: met.get(text) ?? null })),
    turns: budget ? { used: budget.consumed_turns ?? 0, most: budget.max_turns ?? null } : null,
    tokens: budget ? { used: budget.consumed_tokens ?? 0, most: budget.max_tokens ?? null } : null,
    model: view.assigned_agent ?? null,
    branch: view.branch ?? null,
    supplements: view.supplements ?? null,
    mayOverlap: view.may_overlap ?? [],
    missing: view.missing ?? [],
    reason: view.reason ?? null,
    heardAt: view.last_heard === undefined || view.last_heard === null ? null : view.last_heard * 1000,
    ownedFiles: view.owned_files ?? 0,
  };
}

/** @param {{ type: string }} event @returns {boolean} Whether the intents have to be read again. */
export function isOfIntents(event) {
  return CHANGES.has(event.type);
}

/** @param {any} event @returns {boolean} Whether it is a sign of work on an intent, which costs turns and makes lines of the ledger. */
export function isOfWork(event) {
  return Boolean(event.intent_id) || (event.type === 'lock_refused' && event.reason === 'INTENT');
}

/**
 * What the events themselves say. The rest, such as what is spent, is read.
 * @param {Intents} intents
 * @param {any[]} events In their order.
 * @returns {Intents} The same object if nothing changes.
 */
export function applyToIntents(intents, events) {
  if (intents.phase !== 'shown') return intents;
  let { list, owners } = intents;
  for (const event of events) {
    const intent = list.find(({ id }) => id === event.intent_id);
    if (!intent) continue;
    const change = changeOf(intent, event);
    if (change) list = list.map((each) => (each === intent ? { ...each, ...change } : each));
    if (event.type === 'lock_granted' && event.status === 'WRITING') {
      const fresh = (event.files ?? []).filter((/** @type {string} */ path) => !owners.get(path)?.includes(intent.id));
      if (fresh.length > 0) owners = new Map([...owners, ...fresh.map((/** @type {string} */ path) => /** @type {const} */ ([path, [...(owners.get(path) ?? []), intent.id]]))]);
    }
  }
  return list === intents.list && owners === intents.owners ? intents : { ...intents, list, owners };
}

/**
 * @param {Intent} intent
 * @param {any} event
 * @returns {Partial<Intent> | null}
 */
function changeOf(intent, event) {
  if (event.type === 'intent_changed') {
    if (event.status === intent.status && (event.reason ?? intent.reason) === intent.reason) return null;
    return { status: event.status, reason: event.reason ?? (event.status === 'IN_PROGRESS' ? null : intent.reason) };
  }
  const isHeard = event.type === 'lock_granted' || event.type === 'lock_renewed';
  return isHeard && timeOf(event) > (intent.heardAt ?? 0) ? { heardAt: timeOf(event) } : null;
}

/** @param {Intent} intent */
export function isEnded({ status }) {
  return ENDED.has(status);
}

/**
 * @param {Intent[]} list
 * @returns {{ active: Intent[], ended: Intent[] }} Each in the order in which they were written, what is worked on first, what ended last first.
 */
export function sortedIntents(list) {
  const rank = (/** @type {Intent} */ { status }) => ORDER.indexOf(status);
  const active = list.filter((intent) => !isEnded(intent)).sort((one, other) => rank(one) - rank(other));
  return { active, ended: list.filter(isEnded).reverse() };
}

/** @type {WeakMap<Intents['owners'], Map<string, string[]>>} Owned files by intent: made once for the same owners. */
const FILES = new WeakMap();

/** @param {Intents} intents @param {string | null} id @returns {string[]} The files that an intent owns, sorted. */
export function filesOf({ owners }, id) {
  let files = FILES.get(owners);
  if (!files) {
    files = new Map();
    for (const path of [...owners.keys()].sort()) {
      for (const owner of owners.get(path) ?? []) {
        const own = files.get(owner);
        if (own) own.push(path);
        else files.set(owner, [path]);
      }
    }
    FILES.set(owners, files);
  }
  return files.get(id ?? '') ?? [];
}

/** @param {Intents} intents @param {string} id @returns {string} Its name, or its id where it has none or is not known. */
export function intentName({ list }, id) {
  return list.find((intent) => intent.id === id)?.name || id;
}

/**
 * @param {import('./types.js').State} state
 * @param {string} id
 * @param {number} now
 * @returns {Worker[]} Who holds locks for an intent, each once: on the branch that is shown, then on others.
 */
export function workersOf(state, id, now) {
  /** @type {Map<string, Worker>} */
  const workers = new Map();
  for (const held of state.locks.values()) {
    for (const { holder, userName, agentId, intentId } of held) if (intentId === id) workers.set(holder, { holder, userName, agentId, branch: null });
  }
  for (const { holder, userName, agentId, branch, intentId, expiry } of state.intents.elsewhere) {
    if (intentId === id && expiry > now && !workers.has(holder)) workers.set(holder, { holder, userName, agentId, branch });
  }
  return [...workers.values()];
}
