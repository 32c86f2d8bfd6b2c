// A list of files as buttons, the first of them at first.

import { keyedChildren, make, setText } from '../app/dom.js';
import { counted } from '../app/words.js';
import { fileButton, modeOf } from './parts.js';

/** @typedef {import('../app/types.js').Model} Model */

const FIRST = 8;
/** How many more at each press: a file can have thousands of importers. */
const MORE = 200;

/** @param {Model} model */
export function fileList(model) {
  /** @type {string[]} */
  let paths = [];
  let most = FIRST;
  const list = make('ul', { class: 'file-list' });
  const more = make('button', { type: 'button', class: 'quiet', onclick: showMore });
  const renderFiles = keyedChildren(list, (/** @type {string} */ each) => each, (each) => {
    const button = fileButton(model, each);
    return { node: make('li', {}, button.node), update: () => button.update(modeOf(model.state, each)) };
  });

  function showMore() {
    const first = most;
    most += MORE;
    render();
    /** @type {HTMLElement | null} */ (list.children[first]?.firstElementChild)?.focus();
  }

  function render() {
    const rest = paths.length - most;
    renderFiles(paths.slice(0, most));
    more.hidden = rest <= 0;
    setText(more, rest > MORE ? `Show ${MORE} more of ${counted(paths.length, 'file')}` : `Show all ${counted(paths.length, 'file')}`);
  }

  return {
    node: make('div', {}, list, more),
    reset() {
      most = FIRST;
    },
    /** @param {string[]} next In the order in which they are shown. */
    update(next) {
      paths = next;
      render();
    },
  };
}
