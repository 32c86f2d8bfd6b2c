// What the selected file imports, and what imports it.

import { make, setText } from '../app/dom.js';
import { fileList } from './file_list.js';

/** @typedef {import('../app/types.js').Model} Model */

/** @param {Model} model */
export function fileLinks(model) {
  let path = '';
  const importers = linkList(model, 'Imported by', 'No file imports it.');
  const imports = linkList(model, 'Imports', 'Imports no files of the repository.');
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
  const count = make('span', { class: 'count' });
  const nothing = make('p', { class: 'soft' }, none);
  const files = fileList(model);
  return {
    node: make('section', { class: 'file-section' }, make('h3', {}, `${name} `, count), nothing, files.node),
    reset: files.reset,
    /** What is locked comes first. @param {string[]} next */
    update(next) {
      const rank = (/** @type {string} */ each) => (model.state.locks.has(each) ? 0 : 1);
      files.update(next.map((each) => ({ each, rank: rank(each) })).sort((a, b) => a.rank - b.rank || (a.each < b.each ? -1 : 1)).map(({ each }) => each));
      setText(count, next.length.toLocaleString('en-US'));
      nothing.hidden = next.length > 0;
    },
  };
}
