// Teams, their members and messages on the page.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { emptyMail, threadsOf, withNewest, withOlder } from '../../../public/app/messages.js';
import { applyToTeam, memberOf, pendingResponders, readTeam, readTeams, selectTeam } from '../../../public/app/teams.js';
import { describeTeamEvent } from '../../../public/app/team_labels.js';
import { messageView, taskClaimed, teamBody, teamEvent, teamsBody } from './teams.mjs';

/** @param {import('../../../public/app/team_types.js').Team} team */
const unread = (team) => Object.fromEntries(team.members.map((member) => [member.handle, member.unread]));

test('the team of the address is shown whatever its case; without one, that with the most to do which is open', () => {
  const body = teamsBody(['alpha', 'beta', 'gamma']);
  body.teams[0].closedAt = '2026-11-22T09:00:00Z';
  body.teams[2].openTasks = 99;
  const teams = readTeams(body);
  assert.deepEqual([teams.phase, selectTeam(teams, 'BETA'), selectTeam(teams, null), selectTeam(teams, 'delta')], ['shown', 'beta', 'gamma', null]);
  assert.equal(readTeams({ teams: [] }).phase, 'none');
});

test('a member is found whatever the case of its handle', () => {
  const team = readTeam(teamBody());
  assert.deepEqual([memberOf(team, 'BOB')?.handle, memberOf(team, 'zoe'), memberOf(null, 'bob')], ['bob', null, null]);
});

test('a message counts as unread for its recipients, and an act marks its member as seen', () => {
  const team = readTeam(teamBody());
  const sent = (/** @type {object} */ rest) => teamEvent('message_sent', { number: 1, message_type: 'plain', from: 'ann', to: 'broadcast', recipient_count: 0, ...rest });
  assert.deepEqual(unread(applyToTeam(team, [sent({})])), { ann: 0, bob: 1, lead: 1 });
  assert.deepEqual(unread(applyToTeam(team, [sent({ to: 'BOB', recipients: ['BOB'], recipient_count: 1 })])), { ann: 0, bob: 1, lead: 0 });
  const cut = applyToTeam(team, [sent({ to: 'bob', recipients: ['bob'], recipient_count: 40 })]);
  assert.deepEqual(unread(cut), { ann: 0, bob: 0, lead: 0 }, 'the members are read again');
  const bob = applyToTeam(team, [taskClaimed('t1', 'bob', 1)]).members[1];
  assert.ok(bob.isLive && bob.lastSeen !== null);
});

test('a shutdown lists approvals, rejections and missing answers, and ends', () => {
  const shutdown = { id: 's1', by: 'lead', reason: 'done', requested_at: '2026-11-22T09:00:00Z', respond_by: '2026-11-22T09:01:00Z', approved: ['lead'], rejected: [] };
  const team = readTeam(teamBody({ shutdown }));
  const answer = (/** @type {string} */ state, /** @type {string} */ handle) => teamEvent('shutdown_changed', { shutdown: 's1', state, handle, user: handle });
  const missing = (/** @type {import('../../../public/app/team_types.js').Team} */ of) => of.shutdown && pendingResponders(of, of.shutdown).map(({ handle }) => handle);
  assert.deepEqual(missing(team), ['ann'], 'who is away is not waited for');
  const rejected = applyToTeam(team, [answer('rejected_by', 'ann'), answer('rejected_by', 'ann')]);
  assert.deepEqual([rejected.shutdown?.rejected, missing(rejected)], [['ann'], []]);
  const approved = applyToTeam(rejected, [answer('approved', 'ann'), answer('rejected_by', 'ann')]);
  assert.deepEqual([approved.shutdown?.approved, approved.shutdown?.rejected, approved.members[0].hasEnded], [['lead', 'ann'], [], true], 'an approval is final');
  assert.equal(applyToTeam(approved, [answer('closed', 'ann')]).shutdown, null);
  const ofOne = readTeam(teamBody({ shutdown: { ...shutdown, target: 'bob', approved: [] } }));
  assert.deepEqual(missing(ofOne), ['bob']);
  assert.equal(applyToTeam(ofOne, [answer('approved', 'bob')]).shutdown, null, 'nobody else is asked');
});

test('replies stand under what they reply to, the newest thread first, and one whose begin is not there says so', () => {
  const body = { messages: [messageView(9, { reply_to: 3 }), messageView(8), messageView(7, { reply_to: 5 }), messageView(5), messageView(4, { reply_to: 2 })] };
  const { messages } = withNewest(emptyMail('alpha'), body);
  assert.deepEqual(threadsOf(messages ?? []).map(({ root, messages: all }) => [root, all.map(({ id }) => id)]), [[3, [9]], [null, [8]], [null, [5, 7]], [2, [4]]]);
});

test('newer messages join those that are known; where some may lie between, it begins anew', () => {
  const page = (/** @type {number[]} */ ids, /** @type {number} */ earlier) => ({ messages: ids.map((id) => messageView(id)), ...(earlier && { earlier }) });
  const first = withNewest(emptyMail('alpha'), page([6, 5, 4], 4));
  const longer = withOlder(first, page([3, 2, 1], 0));
  assert.deepEqual([longer.messages?.map(({ id }) => id), longer.earlier], [[6, 5, 4, 3, 2, 1], null]);
  assert.deepEqual(withNewest(longer, page([8, 7, 6], 6)).messages?.map(({ id }) => id), [8, 7, 6, 5, 4, 3, 2, 1]);
  const gap = withNewest(longer, page([20, 19, 18], 18));
  assert.deepEqual([gap.messages?.map(({ id }) => id), gap.earlier], [[20, 19, 18], 18]);
});

test('the feed says what a member did', () => {
  assert.equal(describeTeamEvent(teamEvent('task_created', { tasks: ['t1'], task_count: 1 })), 'adds task t1');
  assert.equal(describeTeamEvent(teamEvent('message_sent', { from: 'ann', to: 'bob', recipient_count: 3 })), 'writes to bob and 2 more');
  assert.equal(describeTeamEvent(teamEvent('team_changed', { change: 'joined' })), 'joins');
  assert.equal(describeTeamEvent(teamEvent('something_new')), null);
});
