// Teams and their members as the page shows them, from `GET /api/teams` and from events. Functions change no argument.

import { holderKey } from './holder.js';
import { timeOf } from './locks.js';

/** @import { Member, Shutdown, Team, Teams } from './team_types.js' */

/** @returns {Teams} Before anything was read. */
export function emptyTeams() {
  return { phase: 'unknown', list: [], message: null };
}

/** @param {any} text ISO 8601. @returns {number | null} */
export function parseTime(text) {
  return text ? Date.parse(text) : null;
}

/** @param {any} body Of `GET /api/teams`. @returns {Teams} */
export function readTeams(body) {
  const list = body.teams.map((/** @type {any} */ team) => ({
    name: team.name,
    openTasks: team.openTasks,
    isClosed: Boolean(team.closedAt),
  }));
  return { phase: list.length > 0 ? 'shown' : 'none', list, message: null };
}

/** @param {any} body Of `GET /api/teams/{team}`. @returns {Team} */
export function readTeam({ team }) {
  return {
    name: team.name,
    leader: team.leader,
    description: team.description ?? '',
    isStrict: team.isStrict,
    closedAt: parseTime(team.closedAt),
    members: team.members.map(readMember),
    shutdown: team.shutdown ? readShutdown(team.shutdown) : null,
    openTasks: team.openTasks,
    doneTasks: team.doneTasks,
  };
}

/** @param {any} member @returns {Member} */
function readMember(member) {
  return {
    handle: member.agentId,
    login: member.login,
    agent: member.agent ?? null,
    lastSeen: parseTime(member.lastSeen),
    isLive: member.isLive,
    hasEnded: Boolean(member.endedAt),
    unread: member.unread,
  };
}

/** Members by handle in lower case, computed once for each list. @type {WeakMap<Member[], Map<string, Member>>} */
const INDEXES = new WeakMap();

/** @param {Team | null} team @param {string} handle @returns {Member | null} */
export function memberOf(team, handle) {
  if (!team) return null;
  let byHandle = INDEXES.get(team.members);
  if (!byHandle) {
    byHandle = new Map(team.members.map((member) => [member.handle.toLowerCase(), member]));
    INDEXES.set(team.members, byHandle);
  }
  return byHandle.get(handle.toLowerCase()) ?? null;
}

/** @param {any} shutdown @returns {Shutdown} */
function readShutdown(shutdown) {
  return {
    id: shutdown.id,
    target: shutdown.target ?? null,
    by: shutdown.by,
    reason: shutdown.reason,
    respondBy: Date.parse(shutdown.respond_by),
    approved: shutdown.approved,
    rejected: shutdown.rejected,
  };
}

/** Compares handles or names, which ignore case. @param {string} a @param {string | null | undefined} b */
export function isSameName(a, b) {
  return a.toLowerCase() === b?.toLowerCase();
}

/**
 * @param {Teams} teams
 * @param {string | null} requested The name in the address.
 * @returns {string | null} The name of the team to show: the requested one, or the open team with the most open tasks.
 */
export function selectTeam({ list }, requested) {
  if (requested !== null) return list.find(({ name }) => isSameName(name, requested))?.name ?? null;
  const [first] = [...list].sort((a, b) =>
    Number(a.isClosed) - Number(b.isClosed) || b.openTasks - a.openTasks);
  return first?.name ?? null;
}

/** @param {{ type: string, team?: string }} event @returns {boolean} */
export function isTeamEvent(event) {
  return typeof event.team === 'string';
}

/**
 * Applies what the events say about the members and the open shutdown. The page reads the rest.
 * @param {Team} team
 * @param {any[]} events Those of the team, in their order.
 * @returns {Team} The same object if nothing changes.
 */
export function applyToTeam(team, events) {
  let next = team;
  for (const event of events) {
    next = withActor(next, event);
    if (event.type === 'message_sent') next = withMail(next, event);
    else if (event.type === 'shutdown_changed') next = withAnswer(next, event);
    else if (event.type === 'team_changed') next = withTeamChange(next, event);
  }
  return next;
}

/** @param {Team} team @param {any} event A `team_changed`. @returns {Team} */
function withTeamChange(team, event) {
  switch (event.change) {
    case 'handed_over': return { ...team, leader: event.handle };
    case 'closed': return { ...team, closedAt: timeOf(event), shutdown: null };
    case 'left': return { ...team, members: team.members.filter(({ handle }) => !isSameName(handle, event.handle)) };
    default: return team;
  }
}

/** @param {Team} team @param {(member: Member) => Partial<Member> | null} change @returns {Team} */
function withMembers(team, change) {
  let isChanged = false;
  const members = team.members.map((member) => {
    const fields = change(member);
    if (fields) isChanged = true;
    return fields ? { ...member, ...fields } : member;
  });
  return isChanged ? { ...team, members } : team;
}

/**
 * Marks the member that acted as live. An expired claim, or an event about a member, is not activity of that member.
 * @param {Team} team
 * @param {any} event
 */
function withActor(team, event) {
  if (event.type === 'task_lapsed' || event.type === 'team_changed') return team;
  const actor = event.type === 'message_sent' ? event.from : event.handle;
  const at = timeOf(event);
  if (!actor) return team;
  return withMembers(team, ({ handle, lastSeen }) =>
    (isSameName(handle, actor) && at > (lastSeen ?? 0) ? { lastSeen: at, isLive: true } : null));
}

/** @param {Team} team @param {any} event A `message_sent`. */
function withMail(team, { from, recipients, recipient_count: count }) {
  // If the event does not name all recipients, the page reads the members again.
  if (count > (recipients?.length ?? 0)) return team;
  const isRecipient = (/** @type {string} */ handle) => (count === 0
    ? !isSameName(handle, from)
    : recipients.some((/** @type {string} */ recipient) => isSameName(recipient, handle)));
  return withMembers(team, ({ handle, unread }) => (isRecipient(handle) ? { unread: unread + 1 } : null));
}

/** @param {Team} team @param {any} event A `shutdown_changed`. @returns {Team} */
function withAnswer(team, { shutdown: id, state, handle }) {
  const hasNewlyEnded = (/** @type {Member} */ member) =>
    state === 'approved' && isSameName(member.handle, handle) && !member.hasEnded;
  const next = withMembers(team, (member) => (hasNewlyEnded(member) ? { hasEnded: true } : null));
  const { shutdown } = next;
  if (!shutdown || shutdown.id !== id) return next;
  const isOver = ['rejected', 'forced', 'closed'].includes(state) || (state === 'approved' && shutdown.target !== null);
  if (isOver) return { ...next, shutdown: null };
  if (state !== 'approved' && state !== 'rejected_by') return next;
  const without = (/** @type {string[]} */ handles) => handles.filter((each) => !isSameName(each, handle));
  const [approved, rejected] = [without(shutdown.approved), without(shutdown.rejected)];
  // An approval is final. A member that has rejected may still approve.
  const isApproved = state === 'approved' || approved.length < shutdown.approved.length;
  if (isApproved) approved.push(handle);
  else rejected.push(handle);
  return { ...next, shutdown: { ...shutdown, approved, rejected } };
}

/** @param {Team} team @param {Shutdown} shutdown @returns {Member[]} The members that still have to answer. */
export function pendingResponders(team, { target, approved, rejected }) {
  const responders = [...approved, ...rejected];
  return team.members.filter(({ handle, isLive, hasEnded }) => {
    if (target !== null ? !isSameName(handle, target) : !isLive && !isSameName(handle, team.leader)) return false;
    return !hasEnded && !responders.some((responder) => isSameName(responder, handle));
  });
}

/** @param {Team | null} team @param {string} holder @returns {Member | null} */
export function memberOfHolder(team, holder) {
  return team?.members.find(({ login, agent }) => holderKey(login, agent) === holder) ?? null;
}
