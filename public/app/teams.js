// Teams and their members as the page shows them, from `GET /api/teams` and from events. Nothing here changes what it is given.

import { timeOf } from './locks.js';

/** @typedef {import('./team_types.js').Teams} Teams */
/** @typedef {import('./team_types.js').Team} Team */
/** @typedef {import('./team_types.js').Member} Member */
/** @typedef {import('./team_types.js').Shutdown} Shutdown */

/** @returns {Teams} Those of a repository of which nothing is known yet. */
export function unknownTeams() {
  return { phase: 'unknown', list: [], message: null };
}

/** @param {any} text ISO 8601. @returns {number | null} */
export function instant(text) {
  return text ? Date.parse(text) : null;
}

/** @param {any} body The answer of `GET /api/teams`. @returns {Teams} */
export function readTeams(body) {
  const list = body.teams.map((/** @type {any} */ team) => ({
    name: team.name,
    leader: team.leader,
    memberCount: team.memberCount,
    openTasks: team.openTasks,
    doneTasks: team.doneTasks,
    isClosed: Boolean(team.closedAt),
  }));
  return { phase: list.length > 0 ? 'shown' : 'none', list, message: null };
}

/** @param {any} body The answer of `GET /api/teams/{team}`. @returns {Team} */
export function readTeam({ team }) {
  return {
    name: team.name,
    leader: team.leader,
    description: team.description ?? '',
    isStrict: team.isStrict,
    closedAt: instant(team.closedAt),
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
    name: member.agentName,
    kind: member.agentType,
    login: member.login,
    agent: member.agent ?? null,
    lastSeen: instant(member.lastSeen),
    isLive: member.isLive,
    hasEnded: Boolean(member.endedAt),
    unread: member.unread,
  };
}

/** Members by handle in lower case. @type {WeakMap<Member[], Map<string, Member>>} */
const byHandle = new WeakMap();

/** @param {Team | null} team @param {string} handle @returns {Member | null} */
export function memberOf(team, handle) {
  if (!team) return null;
  let known = byHandle.get(team.members);
  if (!known) byHandle.set(team.members, (known = new Map(team.members.map((member) => [member.handle.toLowerCase(), member]))));
  return known.get(handle.toLowerCase()) ?? null;
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

/** @param {string} one @param {string | null | undefined} other Handles and names are unique whatever the case. */
export function isSameName(one, other) {
  return one.toLowerCase() === other?.toLowerCase();
}

/**
 * @param {Teams} teams
 * @param {string | null} wanted The name in the address.
 * @returns {string | null} The name of the team that is shown: the wanted one, or that with the most to do among those that are not closed.
 */
export function chosenTeam({ list }, wanted) {
  if (wanted !== null) return list.find(({ name }) => isSameName(name, wanted))?.name ?? null;
  const [first = null] = [...list].sort((one, other) => Number(one.isClosed) - Number(other.isClosed) || other.openTasks - one.openTasks);
  return first && first.name;
}

/** @param {{ type: string, team?: string }} event @returns {boolean} */
export function isOfTeams(event) {
  return typeof event.team === 'string';
}

/**
 * What the events themselves say of the members and the open shutdown. The rest is read.
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
    else if (event.type === 'team_changed' && event.change === 'handed_over') next = { ...next, leader: event.handle };
    else if (event.type === 'team_changed' && event.change === 'closed') next = { ...next, closedAt: timeOf(event), shutdown: null };
    else if (event.type === 'team_changed' && event.change === 'left') next = { ...next, members: next.members.filter(({ handle }) => !isSameName(handle, event.handle)) };
  }
  return next;
}

/**
 * @param {Team} team
 * @param {(member: Member) => Partial<Member> | null} change
 * @returns {Team}
 */
function withMembers(team, change) {
  let isChanged = false;
  const members = team.members.map((member) => {
    const made = change(member);
    if (made) isChanged = true;
    return made ? { ...member, ...made } : member;
  });
  return isChanged ? { ...team, members } : team;
}

/** Whoever acts was seen. A claim that lapsed, or a member that was told of, is no sign of life. @param {Team} team @param {any} event */
function withActor(team, event) {
  if (event.type === 'task_lapsed' || event.type === 'team_changed') return team;
  const actor = event.type === 'message_sent' ? event.from : event.handle;
  const at = timeOf(event);
  if (!actor) return team;
  return withMembers(team, ({ handle, lastSeen }) => (isSameName(handle, actor) && at > (lastSeen ?? 0) ? { lastSeen: at, isLive: true } : null));
}

/** @param {Team} team @param {any} event A `message_sent`. */
function withMail(team, { from, recipients, recipient_count: count }) {
  // Not all recipients are named: the members are read again.
  if (count > (recipients?.length ?? 0)) return team;
  const isFor = (/** @type {string} */ handle) => (count === 0 ? !isSameName(handle, from) : recipients.some((/** @type {string} */ each) => isSameName(each, handle)));
  return withMembers(team, ({ handle, unread }) => (isFor(handle) ? { unread: unread + 1 } : null));
}

/** @param {Team} team @param {any} event A `shutdown_changed`. @returns {Team} */
function withAnswer(team, { shutdown: id, state, handle }) {
  const next = state === 'approved' ? withMembers(team, (member) => (isSameName(member.handle, handle) && !member.hasEnded ? { hasEnded: true } : null)) : team;
  const { shutdown } = next;
  if (!shutdown || shutdown.id !== id) return next;
  const isOver = ['rejected', 'forced', 'closed'].includes(state) || (state === 'approved' && shutdown.target !== null);
  if (isOver) return { ...next, shutdown: null };
  if (state !== 'approved' && state !== 'rejected_by') return next;
  const without = (/** @type {string[]} */ list) => list.filter((each) => !isSameName(each, handle));
  const [approved, rejected] = [without(shutdown.approved), without(shutdown.rejected)];
  // An approval is final; a rejection may become one.
  const isApproved = state === 'approved' || approved.length < shutdown.approved.length;
  return { ...next, shutdown: { ...shutdown, approved: isApproved ? [...approved, handle] : approved, rejected: isApproved ? rejected : [...rejected, handle] } };
}

/**
 * @param {Team} team
 * @param {Shutdown} shutdown
 * @returns {Member[]} Who has not answered, and has to.
 */
export function unanswered(team, { target, approved, rejected }) {
  const answered = [...approved, ...rejected];
  return team.members.filter(({ handle, isLive, hasEnded }) => {
    if (target !== null ? !isSameName(handle, target) : !isLive && !isSameName(handle, team.leader)) return false;
    return !hasEnded && !answered.some((each) => isSameName(each, handle));
  });
}
