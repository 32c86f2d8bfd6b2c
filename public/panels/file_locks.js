// The locks of the selected file, and the files under WRITING locks that it is a neighbor of.

import { nameOf } from '../app/names.js';
import { pendingSentence } from '../app/pending.js';
import { duration } from '../app/time.js';
import { nothingLocked } from '../app/truth.js';
import { icon, keyedChildren, make, setIcon, setText } from '../app/dom.js';
import { holderActs } from './act_buttons.js';
import { badge, fileButton, holderName, moment, timeLeft } from './parts.js';

/** @import { Lock, Model } from '../app/types.js' */
/** @import { Pending } from '../app/pending.js' */

/** A file that all files import is a neighbor of every writer. */
const NEIGHBORS_SHOWN = 6;

/** @param {Model} model */
export function fileLocks(model) {
  const list = make('ul', { class: 'lock-list' });
  const free = make('p', { class: 'soft' });
  const neighbors = make('ul', { class: 'file-list' });
  const rest = make('p', { class: 'soft' });
  const unmerged = make('ul', { class: 'file-list' });
  const neighborNote = make('div', { class: 'neighbor-note' },
    make('p', {}, 'Imports, or is imported by, files that are being written:'), neighbors, rest);
  const node = make('section', { class: 'file-section' }, make('h3', {}, 'Lock'), list, free, unmerged, neighborNote);
  const keyOfLock = (/** @type {Lock} */ { path, holder }) => `${holder} ${path}`;
  const renderLocks = keyedChildren(list, keyOfLock, (lock) => lockRow(model, lock));
  let rows = renderLocks([]);
  const keyOfPending = (/** @type {Pending} */ { holder, workBranch }) => `${holder} ${workBranch}`;
  const renderUnmerged = keyedChildren(unmerged, keyOfPending, () => {
    const text = make('span');
    const since = moment(duration);
    return {
      node: make('li', { class: 'soft' }, make('span', {}, text, ' (', since.node, ' ago)')),
      update(/** @type {Pending} */ change) {
        setText(text, pendingSentence(change, nameOf(model.state, change.holder)));
        since.update(change.since, model.now());
      },
    };
  });
  const renderNeighbors = keyedChildren(neighbors, (/** @type {string} */ path) => path, (path) => {
    const button = fileButton(model, path);
    const writer = make('span', { class: 'badges' });
    return {
      node: make('li', {}, button.node, writer),
      update() {
        const lock = model.state.locks.get(path)?.[0];
        button.update(lock?.mode ?? null);
        if (writer.dataset.holder === lock?.holder) return;
        writer.dataset.holder = lock?.holder ?? '';
        writer.replaceChildren(...(lock ? [
          badge(lock.holder, lock.agentId, lock.userName),
          make('span', { class: 'unseen' }, `by ${nameOf(model.state, lock.holder)}`),
        ] : []));
      },
    };
  });

  /** @param {number} now */
  function tick(now) {
    for (const row of rows.values()) row.tick(now);
  }

  return {
    node,
    tick,
    /** @param {string} path */
    update(path) {
      const locks = model.state.locks.get(path) ?? [];
      const writers = model.state.neighbors.get(path) ?? [];
      rows = renderLocks(locks);
      renderNeighbors(writers.slice(0, NEIGHBORS_SHOWN));
      setText(rest, writers.length > NEIGHBORS_SHOWN ? `and ${writers.length - NEIGHBORS_SHOWN} more` : '');
      free.hidden = locks.length > 0;
      setText(free, nothingLocked(model.state, model.now(), 'Free: no locks.'));
      const pending = model.state.pending.filter((change) => change.path === path);
      renderUnmerged(pending);
      unmerged.hidden = pending.length === 0;
      neighborNote.hidden = writers.length === 0;
      tick(model.now());
    },
  };
}

/** @param {Model} model @param {Lock} first */
function lockRow(model, first) {
  let lock = first;
  const modeIcon = icon('lock');
  const name = holderName(model, lock.holder);
  const modeText = make('span');
  const mode = make('span', { class: 'mode' }, modeIcon, modeText);
  const message = make('p', { class: 'agent-message' });
  const left = timeLeft();
  const since = moment(duration);
  const renewal = moment();
  const renewalNote = make('span', {}, ', renewed ', renewal.node);
  const acts = holderActs(model);
  const node = make('li', { class: 'lock-row' },
    badge(lock.holder, lock.agentId, lock.userName),
    make('div', { class: 'agent-text' },
      make('div', { class: 'agent-head' }, name.node, left.node),
      message,
      make('p', { class: 'agent-notes' }, mode, make('span', {}, 'for ', since.node, renewalNote)), acts.node),
    left.bar);

  /** @param {number} now */
  function tick(now) {
    left.update(lock, now);
    since.update(lock.since, now);
    renewal.update(lock.renewedAt, now);
    renewalNote.hidden = lock.renewedAt - lock.since < 1000;
  }

  return {
    node,
    tick,
    /** @param {Lock} next */
    update(next) {
      lock = next;
      name.update();
      acts.update(lock.holder, [lock.path]);
      setIcon(modeIcon, lock.mode === 'WRITING' ? 'pencil' : 'eye');
      mode.dataset.mode = lock.mode;
      setText(modeText, lock.mode);
      setText(message, lock.message);
    },
  };
}
