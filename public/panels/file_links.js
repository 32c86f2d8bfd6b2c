// The files that the selected file imports, and the files that import it.

import { makeElement, setText } from '../app/dom.js';
import { fileList } from './file_list.js';

/** @typedef {import('../app/types.js').Model} Model */

/** @param {Model} model */
export function fileLinks(model) {
  let path = '';
  const importers = linkList(model, 'Imported by', 'No file imports it.');
  const imports = linkList(model, 'Imports', 'Imports no files of the repository.');
  const node = makeElement('div', {}, importers.node, imports.node);

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

/** @param {Model} model @param {string} name @param {string} emptyText */
function linkList(model, name, emptyText) {
  const count = makeElement('span', { class: 'count' });
  const empty = makeElement('p', { class: 'soft' }, emptyText);
  const files = fileList(model);
  const title = makeElement('h3', {}, `${name} `, count);
  const node = makeElement('section', { class: 'file-section' }, title, empty, files.node);
  return {
    node,
    reset: files.reset,
    /** Shows locked files first. @param {string[]} paths */
    update(paths) {
      const ranked = paths.map((path) => ({ path, rank: model.state.locks.has(path) ? 0 : 1 }));
      ranked.sort((a, b) => a.rank - b.rank || (a.path < b.path ? -1 : 1));
      files.update(ranked.map(({ path }) => path));
      setText(count, paths.length.toLocaleString('en-US'));
      empty.hidden = paths.length > 0;
    },
  };
}
