// A list of files as buttons: the first few, and more on demand.

import { keyedChildren, makeButton, makeElement, setText } from '../app/dom.js';
import { formatCount } from '../app/formatting.js';
import { fileButton, modeOf } from './elements.js';

const FIRST = 8;
/** Files that each click adds: a file can have thousands of importers. */
const MORE = 200;

/** @param {import('../app/types.js').Model} model */
export function fileList(model) {
  /** @type {string[]} */
  let paths = [];
  let maxRows = FIRST;
  const list = makeElement('ul', { class: 'file-list' });
  const more = makeButton({ class: 'quiet', onclick: showMore });
  const renderFiles = keyedChildren(list, (/** @type {string} */ path) => path, (path) => {
    const button = fileButton(model, path);
    return { node: makeElement('li', {}, button.node), update: () => button.update(modeOf(model.state, path)) };
  });

  function showMore() {
    const firstNew = maxRows;
    maxRows += MORE;
    render();
    /** @type {HTMLElement | null} */ (list.children[firstNew]?.firstElementChild)?.focus();
  }

  function render() {
    const hiddenCount = paths.length - maxRows;
    const total = formatCount(paths.length, 'file');
    renderFiles(paths.slice(0, maxRows));
    more.hidden = hiddenCount <= 0;
    setText(more, hiddenCount > MORE ? `Show ${MORE} more of ${total}` : `Show all ${total}`);
  }

  return {
    node: makeElement('div', {}, list, more),
    reset() {
      maxRows = FIRST;
    },
    /** @param {string[]} next In the order of the list. */
    update(next) {
      paths = next;
      render();
    },
  };
}
