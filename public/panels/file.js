// The details of the selected file.

import { icon, make, setText } from '../app/dom.js';
import { byteSize } from '../app/words.js';
import { copyButton } from './copy_button.js';
import { fileHistory } from './file_history.js';
import { fileIntents } from './file_intents.js';
import { fileLinks } from './file_links.js';
import { fileLocks } from './file_locks.js';
import { fileTasks } from './file_tasks.js';
import { fileVerdict } from './file_verdict.js';
import { everySecond } from './ticker.js';
import { splitPath } from './words.js';

/** @typedef {import('../app/types.js').Model} Model */

/**
 * @param {HTMLElement} element
 * @param {Model} model
 */
export function mountFile(element, model) {
  /** @type {string | null} */
  let path = null;
  /** What had the focus before, to give it back. @type {HTMLElement | null} */
  let opener = null;
  const title = make('h2', { class: 'file-name', tabindex: '-1' });
  const copy = copyButton('Copy the path', () => path ?? '');
  const closeButton = make('button', { type: 'button', class: 'icon-button', 'aria-label': 'Close the details', title: 'Close (Esc)', onclick: close }, icon('close'));
  const crumbs = make('nav', { class: 'crumbs', 'aria-label': 'Folders of the file' });
  const facts = make('p', { class: 'file-facts soft' });
  const locks = fileLocks(model);
  const intents = fileIntents(model);
  const tasks = fileTasks(model);
  const verdict = fileVerdict(model);
  const links = fileLinks(model);
  const history = fileHistory(model);
  element.classList.add('panel', 'file');
  element.append(
    make('div', { class: 'panel-head' }, title, copy.said, copy.button, closeButton),
    make('div', { class: 'file-body' }, crumbs, facts, locks.node, intents.node, tasks.node, verdict.node, links.node, history.node));
  element.addEventListener('keydown', onKey);

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    close();
  }

  function close() {
    model.go({ file: null });
  }

  function show() {
    const next = model.state.place.file;
    const before = path;
    path = next;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const hadFocus = focused !== null && element.contains(focused);
    if (next === null) {
      element.hidden = true;
      if (hadFocus || focused === document.body) opener?.isConnected && opener.focus();
      opener = null;
      return;
    }
    if (!hadFocus && focused && focused !== document.body) opener = focused;
    element.hidden = false;
    element.setAttribute('aria-label', `Details of ${next}`);
    const [folder, name] = splitPath(next);
    setText(title, name);
    title.title = next;
    const folders = folder.split('/').slice(0, -1);
    crumbs.hidden = folders.length === 0;
    crumbs.replaceChildren(...folders.flatMap((part, depth) => [
      make('button', { type: 'button', class: 'crumb', title: `Show only ${folders.slice(0, depth + 1).join('/')}/`, onclick: () => model.go({ filter: `${folders.slice(0, depth + 1).join('/')}/` }) }, part),
      make('span', { 'aria-hidden': 'true' }, '/')]));
    element.querySelector('.file-body')?.scrollTo(0, 0);
    tasks.show(next);
    links.show(next);
    verdict.show(next);
    history.show(next);
    update();
    // Whoever came by keyboard goes on in the details. A click, or a step over the map, leaves the focus where it is.
    const isByKeyboard = hadFocus || (focused?.matches('button:focus-visible, input:focus-visible') ?? false);
    if (before !== null ? hadFocus : isByKeyboard) title.focus({ preventScroll: true });
  }

  function update() {
    if (path === null) return;
    const { graph } = model.state;
    const entry = graph?.files[graph.indexOf.get(path) ?? -1];
    const known = entry
      ? [entry.size > 0 ? byteSize(entry.size) : null, entry.language, entry.state ? `not scanned: ${entry.state}` : null].filter(Boolean)
      : [graph ? 'not in the import graph' : 'the import graph is not there yet'];
    setText(facts, known.join(' \u00b7 '));
    facts.hidden = known.length === 0;
    locks.update(path);
    intents.update(path);
    links.update();
  }

  const endTicks = everySecond(() => path !== null && locks.tick(model.now()));
  const unsubscribe = model.subscribe((changed) => {
    if (changed.has('place') && model.state.place.file !== path) {
      show();
      return;
    }
    if (path === null) return;
    if (changed.has('intents')) intents.update(path);
    if (changed.has('teams') || changed.has('activity')) tasks.refresh();
    if (changed.has('locks') || changed.has('graph')) update();
    else if (changed.has('connection') || changed.has('problem')) locks.update(path);
    if (changed.has('locks') || changed.has('graph') || changed.has('connection')) verdict.refresh();
    if (changed.has('activity')) history.refresh();
  });
  element.hidden = true;
  if (model.state.place.file !== null) show();
  return {
    destroy() {
      endTicks();
      unsubscribe();
      tasks.destroy();
      verdict.destroy();
      history.destroy();
    },
  };
}
