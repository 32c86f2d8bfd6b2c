// The details of the selected file.

import { iconButton, makeButton, makeElement, setText } from '../app/dom.js';
import { formatBytes, splitPath } from '../app/formatting.js';
import { copyButton } from './copy_button.js';
import { fileHistory } from './file_history.js';
import { fileIntents } from './file_intents.js';
import { fileLinks } from './file_links.js';
import { fileLocks } from './file_locks.js';
import { fileTasks } from './file_tasks.js';
import { fileVerdict } from './file_verdict.js';
import { onTick } from './ticker.js';

/** @param {HTMLElement} element @param {import('../app/types.js').Model} model */
export function mountFile(element, model) {
  /** @type {string | null} */
  let path = null;
  /** The element that gets the focus when the details are closed. @type {HTMLElement | null} */
  let opener = null;
  const title = makeElement('h2', { class: 'file-name', tabindex: '-1' });
  const copy = copyButton('Copy the path', () => path ?? '');
  const closeButton = iconButton('close', { 'aria-label': 'Close the details', title: 'Close (Esc)', onclick: close });
  const crumbs = makeElement('nav', { class: 'crumbs', 'aria-label': 'Folders of the file' });
  const facts = makeElement('p', { class: 'file-facts soft' });
  const locks = fileLocks(model);
  const intents = fileIntents(model);
  const tasks = fileTasks(model);
  const verdict = fileVerdict(model);
  const links = fileLinks(model);
  const history = fileHistory(model);
  const body = makeElement('div', { class: 'file-body' },
    crumbs, facts, locks.node, intents.node, tasks.node, verdict.node, links.node, history.node);
  element.classList.add('panel', 'file');
  element.append(makeElement('div', { class: 'panel-head' }, title, copy.status, copy.button, closeButton), body);
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
    showCrumbs(folder);
    body.scrollTo(0, 0);
    tasks.show(next);
    links.show(next);
    verdict.show(next);
    history.show(next);
    update();
    // A user of the keyboard continues in the details. A click, or a step over the map, leaves the focus where it is.
    const isByKeyboard = hadFocus || (focused?.matches('button:focus-visible, input:focus-visible') ?? false);
    if (before !== null ? hadFocus : isByKeyboard) title.focus({ preventScroll: true });
  }

  /** @param {string} folder With its last slash; empty for the root. */
  function showCrumbs(folder) {
    const names = folder.split('/').slice(0, -1);
    crumbs.hidden = names.length === 0;
    crumbs.replaceChildren(...names.flatMap((name, depth) => {
      const filter = `${names.slice(0, depth + 1).join('/')}/`;
      const onclick = () => model.go({ filter });
      return [
        makeButton({ class: 'crumb', title: `Show only ${filter}`, onclick }, name),
        makeElement('span', { 'aria-hidden': 'true' }, '/'),
      ];
    }));
  }

  /** @param {string} selected @returns {string[]} */
  function factsOf(selected) {
    const { graph } = model.state;
    if (!graph) return ['the import graph is not loaded yet'];
    const entry = graph.files[graph.indexOf.get(selected) ?? -1];
    if (!entry) return ['not in the import graph'];
    const { size, language, state } = entry;
    return [size > 0 ? formatBytes(size) : '', language ?? '', state ? `not scanned: ${state}` : ''].filter(Boolean);
  }

  function update() {
    if (path === null) return;
    const words = factsOf(path);
    setText(facts, words.join(' \u00b7 '));
    facts.hidden = words.length === 0;
    locks.update(path);
    intents.update(path);
    links.update();
  }

  onTick(() => path !== null && locks.tick(model.now()));
  model.subscribe((changed) => {
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
}
