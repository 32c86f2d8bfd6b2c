import assert from 'node:assert/strict';
import { test } from 'node:test';

import { changePlace, NO_SELECTION, queryOf, readPlace, shortRepository } from '../../../public/app/address.js';
import { keepRecent, readRecents } from '../../../public/app/recents.js';
import { makeSession } from '../../../public/app/session.js';

const SHOP = 'https://github.com/acme/shop';

/** @returns {Storage} */
function makeStorage() {
  const map = new Map();
  return /** @type {any} */ ({ getItem: (/** @type {string} */ key) => map.get(key) ?? null, setItem: (/** @type {string} */ key, /** @type {string} */ text) => void map.set(key, text), removeItem: (/** @type {string} */ key) => void map.delete(key), map });
}

test('every place is read back from its address', () => {
  const places = [
    { repoUrl: null, branch: null, ...NO_SELECTION, view: 'map' },
    { repoUrl: SHOP, branch: 'main', ...NO_SELECTION, view: 'map' },
    { repoUrl: SHOP, branch: 'feature/a b&c=d#e', ...NO_SELECTION, file: 'src/a + b%2F.ts', intent: 'INT-1', view: 'table', filter: 'ä ? & =' },
    { repoUrl: SHOP, branch: 'main', ...NO_SELECTION, team: 'alpha', task: 'a task/7', inbox: 'ann.1', view: 'tasks' },
  ];
  for (const place of places) assert.deepEqual(readPlace(queryOf(/** @type {any} */ (place))), place);
  assert.equal(queryOf(/** @type {any} */ (places[1])), `?repo_url=${SHOP}&branch=main`);
});

test('a missing parameter has a default, and an unknown one is left out', () => {
  assert.deepEqual(readPlace(`?repo_url=${SHOP}&view=cube&token=secret`), { repoUrl: SHOP, branch: 'main', ...NO_SELECTION, view: 'map' });
  assert.deepEqual(readPlace('?branch=main'), { repoUrl: null, branch: null, ...NO_SELECTION, view: 'map' });
});

test('another branch leaves the file, the intent and the filter behind, unless it names its own', () => {
  const place = readPlace(`?repo_url=${SHOP}&branch=main&file=a.ts&intent=INT-1&view=table&filter=a`);
  assert.deepEqual(changePlace(place, { file: 'b.ts' }), { ...place, file: 'b.ts' });
  assert.deepEqual(changePlace(place, { branch: 'next' }), { ...place, branch: 'next', file: null, intent: null, filter: '' });
  assert.deepEqual(changePlace(place, { branch: 'next', file: 'c.ts' }), { ...place, branch: 'next', file: 'c.ts', intent: null, filter: '' });
});

test('a team is that of all branches; another team leaves its task and inbox behind, another repository all', () => {
  const place = readPlace(`?repo_url=${SHOP}&branch=main&view=board&team=alpha&task=t1&inbox=ann`);
  assert.deepEqual(changePlace(place, { branch: 'next' }), { ...place, branch: 'next' });
  assert.deepEqual(changePlace(place, { team: 'beta' }), { ...place, team: 'beta', task: null, inbox: null });
  assert.deepEqual(changePlace(place, { team: 'beta', task: 't2' }), { ...place, team: 'beta', task: 't2', inbox: null });
  assert.deepEqual(changePlace({ ...place, team: null }, { team: 'alpha' }), place, 'the default is chosen');
  assert.deepEqual(changePlace(place, { repoUrl: `${SHOP}2` }), { ...place, ...NO_SELECTION, repoUrl: `${SHOP}2` });
});

test('a repository is named without what all have', () => {
  assert.equal(shortRepository(`${SHOP}.git`), 'github.com/acme/shop');
  assert.equal(shortRepository('https://git.example.com/x/'), 'git.example.com/x');
});

test('the places that were opened last are kept, each once, as names only', () => {
  const kept = makeStorage();
  for (let index = 0; index < 20; index++) keepRecent({ repoUrl: `${SHOP}${index}`, branch: 'main' }, kept);
  keepRecent(/** @type {any} */ ({ repoUrl: `${SHOP}15`, branch: 'main', token: 'secret' }), kept);
  const recents = readRecents(kept);
  assert.equal(recents.length, 12);
  assert.deepEqual(recents[0], { repoUrl: `${SHOP}15`, branch: 'main' });
  assert.equal(recents.filter(({ repoUrl }) => repoUrl === `${SHOP}15`).length, 1);
  kept.setItem('coord.recent', '{"not":"a list"}');
  assert.deepEqual(readRecents(kept), []);
  kept.setItem('coord.recent', 'no JSON');
  assert.deepEqual(readRecents(kept), []);
});

test('a token is kept in the storage of the session, until it is signed out', () => {
  const kept = makeStorage();
  const session = makeSession(kept);
  session.keep('secret');
  assert.equal(makeSession(kept).token(), 'secret');
  session.keep(null);
  assert.equal(session.token(), null);
  assert.equal(makeSession(kept).token(), null);
});

test('a browser that forbids storage can still sign in', () => {
  const forbid = () => {
    throw new Error('forbidden');
  };
  const session = makeSession({ getItem: forbid, setItem: forbid, removeItem: forbid });
  session.keep('secret');
  assert.equal(session.token(), 'secret');
});
