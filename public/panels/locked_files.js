// The locked files as buttons: everything that is locked on the map can be reached without it.

import { countdown } from '../app/time.js';
import { nameOf } from '../app/names.js';
import { nothingLocked } from '../app/truth.js';
import { icon, keyedChildren, make, setAttribute, setIcon, setText } from '../app/dom.js';
import { nameOfPath } from '../app/words.js';
import { badge, fileButton, pathText } from './parts.js';
import { everySecond } from './ticker.js';
import { lockSentence } from './words.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').Lock} Lock */

/** Of hundreds of them, the file itself tells. */
const UNMERGED_SHOWN = 100;

/**
 * @param {HTMLElement} element
 * @param {Model} model
 */
export function mountLockedFiles(element, model) {
  const title = make('h2', { class: 'locked-title' });
  const list = make('ul', { class: 'locked-list' });
  element.classList.add('locked');
  const unmerged = make('ul', { class: 'locked-list', 'aria-label': 'Changes that are not merged yet' });
  const unmergedTitle = make('h2', { class: 'locked-title' });
  element.append(title, list, unmergedTitle, unmerged);
  /** @type {Map<string, ReturnType<typeof lockedFile>>} */
  const rows = new Map();
  const renderRows = keyedChildren(list, (/** @type {Lock[]} */ locks) => locks[0].path, (locks) => {
    const row = lockedFile(model, locks[0].path);
    rows.set(locks[0].path, row);
    return row;
  });

  const renderUnmerged = keyedChildren(unmerged, (/** @type {string} */ path) => path, (path) => {
    const button = fileButton(model, path);
    return { node: make('li', {}, button.node), update: () => button.update(null) };
  });

  function renderTitle() {
    const { size } = model.state.locks;
    setText(title, size > 0 ? `Locked ${size}` : nothingLocked(model.state, model.now()));
  }

  function render() {
    const { locks, pending } = model.state;
    const paths = [...new Set(pending.map((change) => change.path))];
    setText(unmergedTitle, `Not merged yet ${paths.length}`);
    unmergedTitle.hidden = paths.length === 0;
    unmerged.hidden = paths.length === 0;
    renderUnmerged(paths.slice(0, UNMERGED_SHOWN));
    for (const path of rows.keys()) if (!locks.has(path)) rows.delete(path);
    renderRows([...locks.values()].sort((a, b) => (a[0].path < b[0].path ? -1 : 1)));
    renderTitle();
    list.hidden = locks.size === 0;
    fit();
  }

  /** Names alone where there is no room for whole paths. */
  function fit() {
    list.classList.remove('is-short');
    list.classList.toggle('is-short', list.scrollWidth > list.clientWidth);
  }

  const observer = new ResizeObserver(fit);
  observer.observe(element);
  const endTicks = everySecond(() => {
    for (const row of rows.values()) row.tick(model.now());
  });
  const unsubscribe = model.subscribe((changed) => {
    if (changed.has('locks') || changed.has('place')) render();
    else renderTitle();
  });
  render();
  return {
    destroy() {
      observer.disconnect();
      endTicks();
      unsubscribe();
    },
  };
}

/** @param {Model} model @param {string} path */
function lockedFile(model, path) {
  /** @type {Lock[]} */
  let locks = [];
  let holders = '';
  const mark = icon('lock');
  const badges = make('span', { class: 'badges' });
  const left = make('span', { class: 'left-text', 'aria-hidden': 'true' });
  const sentence = make('span', { class: 'unseen' });
  const text = pathText(path);
  text.setAttribute('aria-hidden', 'true');
  const name = make('span', { class: 'locked-name', 'aria-hidden': 'true' }, nameOfPath(path));
  const button = make('button', { type: 'button', class: 'locked-file', onclick: () => model.go({ file: path }) }, sentence, mark, text, name, badges, left);

  /** @param {number} now */
  function tick(now) {
    setText(left, countdown(Math.max(0, Math.min(...locks.map(({ expiry }) => expiry)) - now)));
    setText(sentence, lockSentence(path, locks, now, (holder) => nameOf(model.state, holder)));
  }

  return {
    node: make('li', {}, button),
    tick,
    /** @param {Lock[]} next */
    update(next) {
      locks = next;
      setIcon(mark, locks[0].mode === 'WRITING' ? 'pencil' : 'eye');
      setAttribute(button, 'data-mode', locks[0].mode);
      setAttribute(button, 'title', `${path}\n${locks.map(({ mode, holder, message }) => `${mode} by ${nameOf(model.state, holder)}: ${message}`).join('\n')}`);
      setAttribute(button, 'aria-current', model.state.place.file === path ? 'true' : null);
      const shown = locks.map(({ holder }) => holder).join(' ');
      if (shown !== holders) {
        holders = shown;
        badges.replaceChildren(...locks.slice(0, 3).map(({ holder, agentId, userName }) => badge(holder, agentId, userName)));
      }
      tick(model.now());
    },
  };
}
