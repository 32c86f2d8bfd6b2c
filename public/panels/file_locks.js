// The locks of the selected file, and the files under WRITING locks that it is a neighbor of.

import { icon, keyedChildren, makeElement, setIcon, setText } from '../app/dom.js';
import { nameOf } from '../app/holder.js';
import { pendingSentence } from '../app/pending.js';
import { noLocksSentence } from '../app/status_sentences.js';
import { duration } from '../app/time.js';
import { holderActions } from './action_buttons.js';
import { badge, detailSection, fileButton, holderName, timeLabel, timeLeft } from './elements.js';

/** @import { Lock, Model } from '../app/types.js' */
/** @import { Pending } from '../app/pending.js' */

/** A file that all files import is a neighbor of every writer. */
const NEIGHBORS_SHOWN = 6;

/** @param {Model} model */
export function fileLocks(model) {
  const list = makeElement('ul');
  const free = makeElement('p', { class: 'soft' });
  const neighbors = makeElement('ul', { class: 'file-list' });
  const rest = makeElement('p', { class: 'soft' });
  const unmerged = makeElement('ul', { class: 'file-list' });
  const neighborNote = makeElement('div', { class: 'neighbor-note' },
    makeElement('p', {}, 'Imports, or is imported by, files that are being written:'), neighbors, rest);
  const node = detailSection('Lock', list, free, unmerged, neighborNote);
  const keyOfLock = (/** @type {Lock} */ { path, holder }) => `${holder} ${path}`;
  const renderLocks = keyedChildren(list, keyOfLock, (lock) => lockRow(model, lock));
  let rows = renderLocks([]);
  const keyOfPending = (/** @type {Pending} */ { holder, workBranch }) => `${holder} ${workBranch}`;
  const renderUnmerged = keyedChildren(unmerged, keyOfPending, () => {
    const text = makeElement('span');
    const since = timeLabel(duration);
    return {
      node: makeElement('li', { class: 'soft' }, makeElement('span', {}, text, ' (', since.node, ' ago)')),
      update(/** @type {Pending} */ change) {
        setText(text, pendingSentence(change, nameOf(model.state, change.holder)));
        since.update(change.since, model.now());
      },
    };
  });
  const renderNeighbors = keyedChildren(neighbors, (/** @type {string} */ path) => path, (path) => {
    const button = fileButton(model, path);
    const writer = makeElement('span', { class: 'badges' });
    return {
      node: makeElement('li', {}, button.node, writer),
      update() {
        const lock = model.state.locks.get(path)?.[0];
        button.update(lock?.mode ?? null);
        if (writer.dataset.holder === lock?.holder) return;
        writer.dataset.holder = lock?.holder ?? '';
        writer.replaceChildren(...(lock ? [
          badge(lock.holder, lock.agentId, lock.userName),
          makeElement('span', { class: 'unseen' }, `by ${nameOf(model.state, lock.holder)}`),
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
      setText(free, noLocksSentence(model.state, model.now(), 'Free: no locks.'));
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
  const modeText = makeElement('span');
  const mode = makeElement('span', { class: 'mode' }, modeIcon, modeText);
  const message = makeElement('p', { class: 'agent-message' });
  const left = timeLeft();
  const since = timeLabel(duration);
  const renewal = timeLabel();
  const renewalNote = makeElement('span', {}, ', renewed ', renewal.node);
  const actions = holderActions(model);
  const node = makeElement('li', { class: 'lock-row' },
    badge(lock.holder, lock.agentId, lock.userName),
    makeElement('div', { class: 'agent-text' },
      makeElement('div', { class: 'agent-head' }, name.node, left.node),
      message,
      makeElement('p', { class: 'agent-notes' }, mode, makeElement('span', {}, 'for ', since.node, renewalNote)),
      actions.node),
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
      actions.update(lock.holder, [lock.path]);
      setIcon(modeIcon, lock.mode === 'WRITING' ? 'pencil' : 'eye');
      mode.dataset.mode = lock.mode;
      setText(modeText, lock.mode);
      setText(message, lock.message);
    },
  };
}
