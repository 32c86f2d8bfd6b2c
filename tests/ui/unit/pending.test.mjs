// Changes that are not merged yet, in the state of the page.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { pendingSentence, readPending } from '../../../public/app/pending.js';

const change = (/** @type {object} */ more) => ({
  file_path: 'src/db.ts', branch: 'main', work_branch: 'pool', user: 'ada', user_name: 'Ada', head: 'a'.repeat(40), message: 'Adding a pool', since: 100, ...more,
});

test('the changes for the branch are read, with their author and pull request', () => {
  const body = { locks: [], pending: [change({ agent_id: 'one', pull_request: 12 }), change({ branch: 'dev' }), change({ file_path: 'src/new.ts' })] };
  const read = readPending(body, 'main');
  assert.deepEqual(read.map(({ path, pullRequest, since }) => [path, pullRequest, since]), [['src/db.ts', 12, 100_000], ['src/new.ts', null, 100_000]]);
  assert.equal(pendingSentence(read[0]), 'Unmerged changes by ada/one on pool (#12): Adding a pool');
  assert.equal(pendingSentence(read[1]), 'Unmerged changes by ada on pool: Adding a pool');
  assert.deepEqual(readPending({ locks: [] }, 'main'), []);
});
