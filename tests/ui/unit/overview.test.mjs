import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOverview } from '../../../public/app/overview.js';
import { lockEvent, lockView } from './events.mjs';

test('an overview counts the agents of a repository, its locked files on all branches, and its blocked agents', () => {
  const waiting = [{ user: 'ada', agent_id: 'kim' }, { user: 'ada', agent_id: 'kim' }];
  const overview = readOverview({ locks: [lockView('ada/dan', 'a'), lockView('ada/dan', 'b'), { ...lockView('bob', 'a'), branch: 'next' }, lockView('cy', 'b')], waiting }, { events: [lockEvent('lock_granted', 'bob', ['a'])] });
  assert.deepEqual([overview.agents, overview.locked, overview.blocked, overview.last?.holder], [4, 3, 1, 'bob']);
  assert.deepEqual(readOverview({ locks: [] }, { events: [] }), { agents: 0, locked: 0, blocked: 0, last: null });
});
