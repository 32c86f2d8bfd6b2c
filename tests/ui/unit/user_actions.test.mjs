import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayManageTask, maySendMessage, shellCommandOf } from '../../../public/app/user_actions.js';
import { callerOfToken } from '../../../public/app/caller.js';
import { tokenOf } from '../harness/tokens.mjs';

const member = (/** @type {string} */ handle, /** @type {string} */ login, /** @type {string | null} */ agent) => ({ handle, name: handle, kind: '', login, agent, lastSeen: null, isLive: true, hasEnded: false, unread: 0 });
const team = { name: 'alpha', leader: 'ada', description: '', isStrict: false, closedAt: null, members: [member('ada', 'ada', null), member('ann', 'bob', 'ann')], shutdown: null, openTasks: 0, doneTasks: 0 };

test('a JWT names the caller; other tokens do not', () => {
  assert.equal(callerOfToken(null), null);
  assert.deepEqual(callerOfToken(tokenOf({ sub: 'jörg' })), { login: 'jörg', name: 'jörg' });
  assert.deepEqual(callerOfToken('ghp_secret'), { login: null, name: 'the owner of your token' });
  assert.equal(callerOfToken('a.b.c')?.login, null);
});

test('the commands of the terminal are those that do the same, with texts quoted', () => {
  assert.equal(shellCommandOf({ kind: 'release', holder: 'ada/dan', paths: ['src/a b.ts', 'c.ts'] }, "it's over", 'main'), "coord release --force --branch main --reason 'it'\\''s over' 'src/a b.ts' c.ts");
  assert.equal(shellCommandOf({ kind: 'message', team, handle: 'ann' }, 'Push $HOME', 'main'), "coord message send --team alpha --to ann 'Push $HOME'");
  assert.equal(shellCommandOf({ kind: 'assign', team, task: 't1' }, 'ann', 'main'), 'coord task assign --team alpha t1 ann');
  assert.equal(shellCommandOf({ kind: 'reopen', team, task: 't1' }, '', 'main'), 'coord task edit --team alpha --clear-lapses t1');
});

test('only the creator and the leader manage a task; members, and logins that may join, write messages', () => {
  assert.ok(mayManageTask(team, 'ada', { createdBy: 'ann' }));
  assert.ok(!mayManageTask(team, 'bob', { createdBy: 'ann' }), 'an agent of bob is not bob');
  assert.ok(!mayManageTask(team, null, { createdBy: 'ann' }));
  assert.ok(maySendMessage(team, 'ada') && maySendMessage(team, 'cy'));
  assert.ok(!maySendMessage(team, 'ann'), 'another login has this handle');
  assert.ok(!maySendMessage({ ...team, closedAt: 1 }, 'ada'));
});
