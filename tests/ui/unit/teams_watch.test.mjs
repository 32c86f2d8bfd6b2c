// When the page asks for teams, tasks and messages, and when it does not.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { json, openLivePage, openPage, pendingRoute, refusal } from './browser.mjs';
import { START } from './events.mjs';
import { claimedTaskView, messageView, taskClaimed, taskCompleted, taskLapsed, taskView, teamBody, teamEvent, teamsBody } from './teams.mjs';

const BOARD = '?repo_url=r&branch=main&view=board';

/** A server with tasks, which may be replaced, and its routes. @param {any[]} views */
function routesOf(views) {
  const server = { views };
  const routes = {
    teams: () => json(teamsBody()),
    alpha: () => json(teamBody()),
    messages: () => json({ messages: [messageView(1)] }),
    tasks: (/** @type {URL} */ url) => {
      const { status, after = '0', limit } = Object.fromEntries(url.searchParams);
      const all = server.views.map((view, at) => ({ view, number: at + 1 })).filter(({ view, number }) => number > Number(after) && (!status || view.status === status));
      const page = all.slice(0, Number(limit));
      return json({ tasks: page.map(({ view }) => view), ...(all.length > page.length && { next: page.at(-1)?.number }) });
    },
  };
  return { server, routes };
}

/** @param {any[]} views @param {{ search?: string, routes?: Record<string, (url: URL, request: any) => any> }} [options] */
async function openTeamsPage(views, { search = BOARD, routes } = {}) {
  const { server, routes: usual } = routesOf(views);
  return { ...(await openLivePage({ search, routes: { ...usual, ...routes } })), server };
}

/** A message of ann to the lead. @param {number} number */
const messageEvent = (number) => teamEvent('message_sent', { number, message_type: 'plain', from: 'ann', to: 'lead', recipients: ['lead'], recipient_count: 1 });
/** Requests about teams, without their common parameters. @param {{ requests: any[] }} page */
const requestsOf = (page) => page.requests.map(({ url }) => url).filter(({ pathname }) => /\/(teams|tasks|messages)/.test(pathname))
  .map(({ pathname, searchParams }) => `${pathname.slice(5)} ${[...searchParams].filter(([name]) => !['repo_url', 'team', 'limit'].includes(name)).map((pair) => pair.join('=')).join(' ')}`.trim());
/** @param {Pick<import('./browser.mjs').Page, 'model'>} page */
const describeTasks = (page) => [...page.model.state.board.tasks.values()].map(({ id, status, owner, lease }) => `${id} ${status} ${owner} ${lease.state}`);
const WHOLE = ['teams/alpha', 'tasks status=in_progress after=0', 'tasks status=pending after=0', 'tasks status=completed after=0'];

test('the list of teams is read once; of a team, only what it works on, while its board is not on the screen', async () => {
  const page = await openTeamsPage([taskView('t1')], { search: '?repo_url=r&branch=main' });
  page.receive(taskClaimed('t1', 'ann', 1));
  await page.timers.advance(300_000);
  const glance = ['tasks status=in_progress', 'teams/alpha'];
  assert.deepEqual([page.model.state.teams.phase, requestsOf(page)], ['shown', ['teams', ...glance, ...glance]]);
  page.requests.length = 0;
  page.model.go({ view: 'board' });
  await page.timers.advance(50);
  assert.deepEqual(requestsOf(page), WHOLE);
  page.model.go({ view: 'map' });
  await page.timers.advance(50);
  page.model.go({ view: 'tasks' });
  await page.timers.advance(500);
  assert.deepEqual(requestsOf(page), [...WHOLE, ...glance, 'teams/alpha'], 'what was read is still true; only the members are read again');
});

test('a server without the routes is asked once, and a repository without teams until an event is about one', async () => {
  const without = await openTeamsPage([], { routes: { teams: () => refusal(404, 'UNKNOWN_ROUTE') } });
  without.receive(teamEvent('team_changed', { change: 'created', handle: 'lead' }));
  await without.timers.advance(60_000);
  without.closeSocket();
  await without.timers.advance(30_000);
  without.open();
  await without.timers.advance(1000);
  assert.deepEqual([without.model.state.teams.phase, requestsOf(without), without.model.state.problem], ['none', ['teams'], null]);

  const empty = await openTeamsPage([], { routes: { teams: () => json({ teams: [] }) } });
  await empty.timers.advance(60_000);
  assert.deepEqual([empty.model.state.teams.phase, requestsOf(empty)], ['none', ['teams']]);
  empty.answers.teams = () => json(teamsBody());
  empty.receive(teamEvent('team_changed', { change: 'created', handle: 'lead' }));
  await empty.timers.advance(1000);
  assert.deepEqual(requestsOf(empty), ['teams', 'teams', ...WHOLE]);
});

test('without a credential the page says so, keeps nothing, and asks no more', async () => {
  const page = await openTeamsPage([taskView('t1')], { routes: { teams: () => refusal(401, 'UNAUTHORIZED') } });
  page.receive(taskClaimed('t1', 'ann', 1));
  await page.timers.advance(60_000);
  assert.deepEqual([page.model.state.teams.phase, page.model.state.teams.message, requestsOf(page), page.model.state.problem], ['sign_in', 'a sentence', ['teams'], null]);
});

test('claims, expiries and completions are patched within a frame, without a read of tasks', async () => {
  const page = await openTeamsPage([taskView('t1'), taskView('t2', { dependencies: ['t1'] })]);
  const before = requestsOf(page).length;
  page.receive(taskClaimed('t1', 'ann', 1));
  await page.timers.advance(30);
  assert.deepEqual(describeTasks(page), ['t1 in_progress ann held', 't2 pending null none']);
  page.receive(taskLapsed('t1', 'ann', 1), taskClaimed('t1', 'bob', 2), taskCompleted('t1', 'bob', 2));
  await page.timers.advance(30);
  assert.deepEqual([describeTasks(page), page.model.state.board.tasks.get('t2')?.dependencies], [['t1 completed bob none', 't2 pending null none'], []]);
  await page.timers.advance(9000);
  assert.equal(requestsOf(page).length, before);
  await page.timers.advance(5000);
  assert.deepEqual(requestsOf(page).slice(before), ['teams/alpha'], 'no event says what members have read');
});

test('new tasks are read from the last page on, edited ones by their ids, all at once after many events', async () => {
  const page = await openTeamsPage(Array.from({ length: 1200 }, (_, at) => taskView(`t${at + 1}`)));
  assert.deepEqual(requestsOf(page).slice(1), ['teams/alpha', 'tasks status=in_progress after=0', 'tasks status=pending after=0', 'tasks readiness=ready after=0', 'tasks status=pending after=100', 'tasks status=pending after=600', 'tasks status=pending after=1100', 'tasks status=completed after=0']);
  const before = requestsOf(page).length;
  page.server.views = [...page.server.views, taskView('t1201'), taskView('t1202')];
  page.answers.t7 = () => json({ task: taskView('t7', { title: 'Another title', priority: 'high' }) });
  for (const id of ['t1201', 't1202']) page.receive(teamEvent('task_created', { tasks: [id], task_count: 1 }));
  page.receive(teamEvent('task_updated', { task: 't7', title: 'Another title' }), teamEvent('task_updated', { task: 't7', title: 'Another title' }));
  await page.timers.advance(30);
  assert.equal(page.model.state.board.tasks.get('t7')?.title, 'Another title');
  await page.timers.advance(1000);
  assert.deepEqual(requestsOf(page).slice(before), ['tasks after=1100', 'tasks/t7']);
  assert.deepEqual([page.model.state.board.tasks.size, page.model.state.board.tasks.get('t7')?.priority], [1202, 'high']);
  page.receive(...Array.from({ length: 40 }, (_, at) => teamEvent('task_updated', { task: `t${at + 1}`, title: 'New' })));
  await page.timers.advance(1000);
  assert.deepEqual(requestsOf(page).slice(before + 2, before + 9).map((each) => each.split(' ')[0]), ['teams/alpha', 'tasks', 'tasks', 'tasks', 'tasks', 'tasks', 'tasks'], 'one read of all in place of forty');
});

test('events during a read of pages are not lost, whether a page already has them or not', async () => {
  const views = Array.from({ length: 700 }, (_, at) => taskView(`t${at + 1}`));
  /** @type {(() => void)[]} */
  const waiting = [];
  const { server, routes } = routesOf(views);
  const slow = (/** @type {URL} */ url) => new Promise((resolve) => {
    const answer = routes.tasks(url);
    waiting.push(() => resolve(answer));
  });
  const page = openPage({ search: BOARD, routes: { ...routes, tasks: slow, t600: () => json({ task: claimedTaskView('t600', 'bob', 8) }) } });
  await page.timers.advance(0);
  page.open();
  await page.timers.advance(20);
  waiting.shift()?.();
  await page.timers.advance(20);
  waiting.shift()?.();
  await page.timers.advance(20);
  assert.deepEqual([page.model.state.board.phase, page.model.state.board.tasks.size], ['reading', 100], 'the first page is shown at once');
  page.receive(taskClaimed('t1', 'ann', 7), taskClaimed('t600', 'bob', 8), teamEvent('task_created', { tasks: ['t701'], task_count: 1 }));
  await page.timers.advance(20);
  // What is read from now on has all of it.
  server.views = [claimedTaskView('t1', 'ann', 7), ...views.slice(1, 599), claimedTaskView('t600', 'bob', 8), ...views.slice(600), taskView('t701')];
  while (waiting.length > 0) {
    waiting.shift()?.();
    await page.timers.advance(300);
  }
  const { tasks, phase } = page.model.state.board;
  assert.deepEqual([phase, tasks.get('t1')?.owner, tasks.get('t600')?.owner, tasks.has('t701'), tasks.size], ['complete', 'ann', 'bob', true, 701]);
});

test('a claim whose time has passed is read again: it has expired, or was renewed, for which there is no event', async () => {
  const page = await openTeamsPage([claimedTaskView('t1', 'ann', 1)]);
  page.answers.t1 = () => json({ task: claimedTaskView('t1', 'ann', 1, { lease: { state: 'held', expires: new Date(START + 1_800_000).toISOString(), token: 1 } }) });
  await page.timers.advance(890_000);
  assert.ok(!requestsOf(page).includes('tasks/t1'));
  await page.timers.advance(20_000);
  assert.equal(requestsOf(page).filter((each) => each === 'tasks/t1').length, 1);
  assert.deepEqual(describeTasks(page), ['t1 in_progress ann held']);
  page.answers.t1 = () => json({ task: taskView('t1', { status: 'in_progress', previousOwner: 'ann', lapses: 1, lease: { state: 'lapsed', token: 1 } }) });
  await page.timers.advance(900_000);
  assert.deepEqual(describeTasks(page), ['t1 in_progress null lapsed']);
  page.receive(taskLapsed('t1', 'ann', 1));
  await page.timers.advance(30);
  assert.equal(page.model.state.board.tasks.get('t1')?.lapses, 1, 'the event that follows counts no second lapse');
});

test('events that are lost lead to a read of all; those that a resumed stream brings do not', async () => {
  const page = await openTeamsPage([taskView('t1')]);
  const before = requestsOf(page).length;
  page.closeSocket();
  await page.timers.advance(5000);
  page.open();
  await page.timers.advance(100);
  assert.deepEqual(requestsOf(page).slice(before), ['teams']);
  page.receive({ type: 'resync', cursor: '9-0' });
  await page.timers.advance(100);
  assert.deepEqual(requestsOf(page).slice(before), ['teams', 'teams', ...WHOLE]);
});

test('more than 1,000 completed tasks are read on demand', async () => {
  const views = [taskView('t0'), ...Array.from({ length: 1100 }, (_, at) => taskView(`t${at + 1}`, { status: 'completed', owner: 'ann', completedAt: new Date(START).toISOString() }))];
  const page = await openTeamsPage(views, { routes: { alpha: () => json(teamBody({ openTasks: 1, doneTasks: 1100 })) } });
  assert.deepEqual([page.model.state.board.done, page.model.state.board.tasks.size], ['unread', 1]);
  page.receive(taskCompleted('t0', 'bob', 3));
  await page.timers.advance(30);
  await page.model.readCompletedTasks();
  await page.timers.advance(50);
  assert.deepEqual([page.model.state.board.done, page.model.state.board.tasks.size, page.model.state.board.tasks.get('t0')?.status], ['complete', 1101, 'completed']);
});

test('a board that cannot be read stays shown, with the reason, and is read after Retry-After', async () => {
  const page = await openTeamsPage([taskView('t1')]);
  page.answers.alpha = () => refusal(429, 'RATE_LIMITED', { 'Retry-After': '20' });
  page.receive(teamEvent('team_changed', { change: 'joined', handle: 'cyd' }));
  await page.timers.advance(1000);
  assert.deepEqual([page.model.state.board.message, describeTasks(page)], ['a sentence', ['t1 pending null none']]);
  page.answers.alpha = () => json(teamBody({ leader: 'cyd' }));
  await page.timers.advance(25_000);
  assert.deepEqual([page.model.state.board.message, page.model.state.board.team?.leader], [null, 'cyd']);
});

test('another team is another board, and a late answer about the one before is not shown', async () => {
  const { waiting, route } = pendingRoute();
  const page = await openTeamsPage([], { routes: { teams: () => json(teamsBody(['alpha', 'beta'])), beta: () => json(teamBody({ name: 'beta' })), tasks: route } });
  assert.equal(page.model.state.board.name, 'alpha');
  page.model.go({ team: 'BETA' });
  await page.timers.advance(50);
  assert.equal(page.model.state.board.name, 'beta');
  waiting.shift()?.(json({ tasks: [taskView('of-alpha')] }));
  for (let turn = 0; turn < 6; turn++) {
    await page.timers.advance(50);
    waiting.shift()?.(json({ tasks: [taskView('of-beta')] }));
  }
  await page.timers.advance(50);
  assert.deepEqual(describeTasks(page), ['of-beta pending null none']);
  page.model.go({ team: 'gone' });
  await page.timers.advance(50);
  assert.deepEqual([page.model.state.place.team, page.model.state.board.name], ['gone', 'beta'], 'the panel says that there is none');
});

test('messages are read while they are looked at: the newest, of one inbox if chosen, and again after one is sent', async () => {
  const page = await openTeamsPage([]);
  assert.ok(!requestsOf(page).some((each) => each.startsWith('messages')));
  page.model.followMail(true);
  await page.timers.advance(50);
  const before = requestsOf(page).length;
  assert.equal(requestsOf(page).at(-1), 'messages');
  page.answers.messages = () => json({ messages: [messageView(2), messageView(1)], earlier: 1 });
  for (let count = 0; count < 5; count++) page.receive(messageEvent(2));
  await page.timers.advance(1000);
  assert.deepEqual(requestsOf(page).slice(before), ['messages']);
  page.model.go({ inbox: 'ann' });
  await page.timers.advance(50);
  assert.equal(requestsOf(page).at(-1), 'messages member=ann');
  await page.model.loadOlderMessages();
  assert.equal(requestsOf(page).at(-1), 'messages before=1 member=ann');
  page.model.followMail(false);
  const end = requestsOf(page).length;
  page.receive(messageEvent(3));
  await page.timers.advance(2000);
  assert.equal(requestsOf(page).length, end);
});

test('older messages are not put below a list that has begun anew meanwhile', async () => {
  const page = await openTeamsPage([]);
  page.answers.messages = () => json({ messages: [messageView(12), messageView(11)], earlier: 11 });
  page.model.followMail(true);
  await page.timers.advance(50);
  const { waiting, route } = pendingRoute();
  page.answers.messages = (url) => (url.searchParams.has('before') ? route() : json({ messages: [messageView(32), messageView(31)], earlier: 31 }));
  const lengthened = page.model.loadOlderMessages();
  page.receive(messageEvent(32));
  await page.timers.advance(1000);
  waiting[0](json({ messages: [messageView(10), messageView(9)] }));
  await lengthened;
  const { messages, earlier } = page.model.state.mail;
  assert.deepEqual([messages?.map(({ id }) => id), earlier], [[32, 31], 31]);
});
