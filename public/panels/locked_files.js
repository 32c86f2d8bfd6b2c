// The locked files as buttons, so that the keyboard reaches every locked file on the map.

import { icon, keyedChildren, makeButton, makeElement, setAttribute, setIcon, setText } from '../app/dom.js';
import { nameOfPath } from '../app/formatting.js';
import { nameOf } from '../app/holder.js';
import { noLocksSentence } from '../app/status_sentences.js';
import { countdown } from '../app/time.js';
import { badge, fileButton, pathText } from './elements.js';
import { lockSentence } from './lock_sentence.js';
import { onTick } from './ticker.js';

/** @import { Lock, Model } from '../app/types.js' */

/** Beyond this number, only the details of a file show its unmerged changes. */
const UNMERGED_SHOWN = 100;
const BADGES_SHOWN = 3;

/** @param {HTMLElement} element @param {Model} model */
export function mountLockedFiles(element, model) {
  const title = makeElement('h2', { class: 'locked-title' });
  const list = makeElement('ul', { class: 'locked-list' });
  const unmerged = makeElement('ul', { class: 'locked-list', 'aria-label': 'Changes that are not merged yet' });
  const unmergedTitle = makeElement('h2', { class: 'locked-title' });
  element.classList.add('locked');
  element.append(title, list, unmergedTitle, unmerged);
  const pathOf = (/** @type {Lock[]} */ [{ path }]) => path;
  const renderRows = keyedChildren(list, pathOf, (locks) => lockedFile(model, pathOf(locks)));
  let rows = renderRows([]);
  const renderUnmerged = keyedChildren(unmerged, (/** @type {string} */ path) => path, (path) => {
    const button = fileButton(model, path);
    return { node: makeElement('li', {}, button.node), update: () => button.update(null) };
  });

  function renderTitle() {
    const { size } = model.state.locks;
    setText(title, size > 0 ? `Locked ${size}` : noLocksSentence(model.state, model.now()));
  }

  function render() {
    const { locks, pending } = model.state;
    const unmergedPaths = [...new Set(pending.map((change) => change.path))];
    setText(unmergedTitle, `Not merged yet ${unmergedPaths.length}`);
    unmergedTitle.hidden = unmerged.hidden = unmergedPaths.length === 0;
    renderUnmerged(unmergedPaths.slice(0, UNMERGED_SHOWN));
    rows = renderRows([...locks.values()].sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1)));
    renderTitle();
    list.hidden = locks.size === 0;
    fit();
  }

  /** Shows only the names of files if whole paths do not fit. */
  function fit() {
    list.classList.remove('is-short');
    list.classList.toggle('is-short', list.scrollWidth > list.clientWidth);
  }

  new ResizeObserver(fit).observe(element);
  onTick(() => {
    for (const row of rows.values()) row.tick(model.now());
  });
  model.subscribe((changed) => {
    if (changed.has('locks') || changed.has('place')) render();
    else renderTitle();
  });
  render();
}

/** @param {Model} model @param {string} path */
function lockedFile(model, path) {
  /** @type {Lock[]} */
  let locks = [];
  let shownHolders = '';
  const mark = icon('lock');
  const badges = makeElement('span', { class: 'badges' });
  const left = makeElement('span', { class: 'left-text', 'aria-hidden': 'true' });
  const sentence = makeElement('span', { class: 'unseen' });
  const text = pathText(path);
  text.setAttribute('aria-hidden', 'true');
  const name = makeElement('span', { class: 'locked-name', 'aria-hidden': 'true' }, nameOfPath(path));
  const onclick = () => model.go({ file: path });
  const button = makeButton({ class: 'locked-file', onclick },
    sentence, mark, text, name, badges, left);

  /** @param {number} now */
  function tick(now) {
    setText(left, countdown(Math.min(...locks.map(({ expiry }) => expiry)) - now));
    setText(sentence, lockSentence(path, locks, now, (holder) => nameOf(model.state, holder)));
  }

  return {
    node: makeElement('li', {}, button),
    tick,
    /** @param {Lock[]} next */
    update(next) {
      locks = next;
      const lines = locks.map(({ mode, holder, message }) => `${mode} by ${nameOf(model.state, holder)}: ${message}`);
      setIcon(mark, locks[0].mode === 'WRITING' ? 'pencil' : 'eye');
      setAttribute(button, 'data-mode', locks[0].mode);
      setAttribute(button, 'title', `${path}\n${lines.join('\n')}`);
      setAttribute(button, 'aria-current', model.state.place.file === path ? 'true' : null);
      const holders = locks.map(({ holder }) => holder).join(' ');
      if (holders !== shownHolders) {
        shownHolders = holders;
        badges.replaceChildren(...locks.slice(0, BADGES_SHOWN).map(({ holder, agentId, userName }) =>
          badge(holder, agentId, userName)));
      }
      tick(model.now());
    },
  };
}
