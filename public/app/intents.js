// Intents as the page shows them, from `GET /api/intents?view=state` and from events. Functions change no argument.

import { readHolder } from './holder.js';
import { timeOf } from './locks.js';

/** @import { Intent, Intents, Worker } from './types.js' */

/** Events after which the page reads the intents again. */
const CHANGES = new Set(['intent_changed', 'intent_overlap_allowed', 'file_taken_over']);
const ENDED = new Set(['COMPLETED', 'ABANDONED']);
/** Intents in progress come first, then those that wait for a person, then those that have not begun. */
const ORDER = ['IN_PROGRESS', 'BLOCKED', 'PENDING'];

/** @returns {Intents} Before anything was read. */
export function emptyIntents() {
  return { phase: 'unknown', list: [], owners: new Map(), elsewhere: [], message: null };
}

/**
 * @param {any} body Of `GET /api/intents?view=state`.
 * @param {string} branch The selected branch.
 * @returns {Intents}
 */
export function readIntents(body, branch) {
  const list = body.intents.map(readIntent);
  const elsewhere = (body.locks ?? [])
    .filter((/** @type {any} */ lock) => lock.intent_id && lock.branch !== branch)
    .map(readWorker);
  const owners = new Map(Object.entries(body.owners ?? {}));
  return { phase: list.length > 0 ? 'shown' : 'none', list, owners, elsewhere, message: null };
}

/** @param {any} lock @returns {Worker & { intentId: string, expiry: number }} */
function readWorker(lock) {
  return { ...readHolder(lock), branch: lock.branch, intentId: lock.intent_id, expiry: lock.expiry * 1000 };
}

/** @param {any} view @returns {Intent} */
function readIntent(view) {
  const proofs = new Map((view.criteria ?? []).map((/** @type {any} */ { criterion, by, at, evidence }) =>
    [criterion, { by, at, evidence }]));
  const criterionOf = (/** @type {string} */ text) => ({ text, met: proofs.get(text) ?? null });
  const { budget } = view;
  const lastActive = view.last_heard ?? null;
  return {
    id: view.id,
    name: view.name ?? '',
    description: view.description ?? '',
    status: view.status,
    constraints: view.constraints ?? [],
    scope: view.owned_scope ?? [],
    criteria: (view.acceptance_criteria ?? []).map(criterionOf),
    turns: budget ? { used: budget.consumed_turns ?? 0, most: budget.max_turns ?? null } : null,
    tokens: budget ? { used: budget.consumed_tokens ?? 0, most: budget.max_tokens ?? null } : null,
    model: view.assigned_agent ?? null,
    branch: view.branch ?? null,
    supplements: view.supplements ?? null,
    mayOverlap: view.may_overlap ?? [],
    missing: view.missing ?? [],
    reason: view.reason ?? null,
    lastActiveAt: lastActive === null ? null : lastActive * 1000,
    ownedFiles: view.owned_files ?? 0,
  };
}

/** @param {{ type: string }} event @returns {boolean} Whether the page has to read the intents again. */
export function isIntentChange(event) {
  return CHANGES.has(event.type);
}

/**
 * @param {any} event
 * @returns {boolean} Whether it is a sign of work on an intent, which costs turns and adds lines to the ledger.
 */
export function isIntentWork(event) {
  return Boolean(event.intent_id) || (event.type === 'lock_refused' && event.reason === 'INTENT');
}

/**
 * Applies what the events themselves say. The page reads the rest, such as the spending.
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
      owners = withOwner(owners, intent.id, event.files ?? []);
    }
  }
  return list === intents.list && owners === intents.owners ? intents : { ...intents, list, owners };
}

/** @param {Intents['owners']} owners @param {string} id @param {string[]} paths @returns {Intents['owners']} */
function withOwner(owners, id, paths) {
  const added = paths.filter((path) => !owners.get(path)?.includes(id));
  if (added.length === 0) return owners;
  const next = new Map(owners);
  for (const path of added) next.set(path, [...(owners.get(path) ?? []), id]);
  return next;
}

/** @param {Intent} intent @param {any} event @returns {Partial<Intent> | null} */
function changeOf(intent, event) {
  if (event.type === 'intent_changed') {
    if (event.status === intent.status && (event.reason ?? intent.reason) === intent.reason) return null;
    return { status: event.status, reason: event.reason ?? (event.status === 'IN_PROGRESS' ? null : intent.reason) };
  }
  const isClaim = event.type === 'lock_granted' || event.type === 'lock_renewed';
  return isClaim && timeOf(event) > (intent.lastActiveAt ?? 0) ? { lastActiveAt: timeOf(event) } : null;
}

/** @param {Intent} intent */
export function isEnded({ status }) {
  return ENDED.has(status);
}

/**
 * @param {Intent[]} list
 * @returns {{ active: Intent[], ended: Intent[] }} Active intents by status, ended ones with the last first. Otherwise
 *   the order stays.
 */
export function sortIntents(list) {
  const rank = (/** @type {Intent} */ { status }) => ORDER.indexOf(status);
  const active = list.filter((intent) => !isEnded(intent)).sort((a, b) => rank(a) - rank(b));
  return { active, ended: list.filter(isEnded).reverse() };
}

/** Owned files by intent, computed once for each `owners`. @type {WeakMap<Intents['owners'], Map<string, string[]>>} */
const FILES = new WeakMap();

/** @param {Intents} intents @param {string | null} id @returns {string[]} The files that an intent owns, sorted. */
export function filesOf({ owners }, id) {
  let byIntent = FILES.get(owners);
  if (!byIntent) {
    byIntent = new Map();
    for (const path of [...owners.keys()].sort()) {
      for (const owner of owners.get(path) ?? []) {
        const files = byIntent.get(owner);
        if (files) files.push(path);
        else byIntent.set(owner, [path]);
      }
    }
    FILES.set(owners, byIntent);
  }
  return byIntent.get(id ?? '') ?? [];
}

/** @param {Intents} intents @param {string} id @returns {string} Its name; its id if it is unknown or has no name. */
export function intentName({ list }, id) {
  return list.find((intent) => intent.id === id)?.name || id;
}

/**
 * @param {import('./types.js').State} state
 * @param {string} id
 * @param {number} now
 * @returns {Worker[]} The holders of locks for an intent, each once: on the selected branch first, then on others.
 */
export function workersOf(state, id, now) {
  /** @type {Map<string, Worker>} */
  const workers = new Map();
  for (const { holder, userName, agentId, intentId } of [...state.locks.values()].flat()) {
    if (intentId === id) workers.set(holder, { holder, userName, agentId, branch: null });
  }
  for (const { holder, userName, agentId, branch, intentId, expiry } of state.intents.elsewhere) {
    if (intentId !== id || expiry <= now || workers.has(holder)) continue;
    workers.set(holder, { holder, userName, agentId, branch });
  }
  return [...workers.values()];
}
