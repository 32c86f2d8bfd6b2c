// What the selected file imports, and what imports it.

import { keyedChildren, make, setText } from '../app/dom.js';
import { counted } from '../app/words.js';
import { fileButton, modeOf } from './parts.js';

/** @typedef {import('../app/types.js').Model} Model */

const FIRST = 8;
/** How many more at each press: a file can have thousands of importers. */
const MORE = 200;

/** @param {Model} model */
export function fileLinks(model) {
  let path = '';
  const importers = linkList(model, 'Imported by', 'No file imports it.');
  const imports = linkList(model, 'Imports', 'It imports no file of the repository.');
  const node = make('div', { class: 'file-links' }, importers.node, imports.node);

  function update() {
    const { graph } = model.state;
    const index = graph?.indexOf.get(path);
    node.hidden = index === undefined;
    if (!graph || index === undefined) return;
    const pathsOf = (/** @type {number[]} */ indices) => indices.map((each) => graph.files[each].path);
    importers.update(pathsOf(graph.importers[index]));
    imports.update(pathsOf(graph.imports[index]));
  }

  return {
    node,
    update,
    /** @param {string} next */
    show(next) {
      path = next;
      importers.reset();
      imports.reset();
      update();
    },
  };
}

/** @param {Model} model @param {string} name @param {string} none */
function linkList(model, name, none) {
  /** @type {string[]} */
  let paths = [];
  let most = FIRST;
  const count = make('span', { class: 'count' });
  const list = make('ul', { class: 'file-list' });
  const nothing = make('p', { class: 'soft' }, none);
  const more = make('button', { type: 'button', class: 'quiet', onclick: showMore });
  const node = make('section', { class: 'file-section' }, make('h3', {}, `${name} `, count), nothing, list, more);
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
    setText(count, paths.length.toLocaleString('en-US'));
    nothing.hidden = paths.length > 0;
    more.hidden = rest <= 0;
    setText(more, rest > MORE ? `Show ${MORE} more of ${counted(paths.length, 'file')}` : `Show all ${counted(paths.length, 'file')}`);
  }

  return {
    node,
    reset() {
      most = FIRST;
    },
    /** What is locked comes first. @param {string[]} next */
    update(next) {
      const rank = (/** @type {string} */ each) => (model.state.locks.has(each) ? 0 : 1);
      paths = next.map((each) => ({ each, rank: rank(each) })).sort((a, b) => a.rank - b.rank || (a.each < b.each ? -1 : 1)).map(({ each }) => each);
      render();
    },
  };
}
