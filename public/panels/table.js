// The table view: everything that the map shows, as text.

import { makeButton, makeElement, setAttribute, setText } from '../app/dom.js';
import { formatBytes, formatCount } from '../app/formatting.js';
import { nameOf } from '../app/holder.js';
import { lockKnowledge } from '../app/lock_knowledge.js';
import { noLocksSentence } from '../app/status_sentences.js';
import { countdown } from '../app/time.js';
import { badge, modeOf, pathText } from './elements.js';
import { cellValue, FILE_COLUMNS, graphRows, tableRows } from './table_rows.js';
import { rowCells, windowTable } from './window_table.js';

/** @import { Model } from '../app/types.js' */
/** @import { Column, TableRow } from './table_rows.js' */

/** @param {HTMLElement} element @param {Model} model */
export function mountTable(element, model) {
  /** @type {{ graph: unknown, rows: TableRow[] }} */
  let base = { graph: undefined, rows: [] };
  let nothingText = '';
  windowTable(element, model, {
    name: 'files',
    label: 'Table of files',
    caption: 'Files with their locks. The buttons of the header sort; arrow keys move between files.',
    columns: FILE_COLUMNS,
    sortedBy: 'mode',
    switchLabel: 'Only locked files and neighbors',
    list({ filter, isOnly, column: id, isDescending }) {
      const { graph } = model.state;
      const column = /** @type {Column} */ (id);
      nothingText = noLocksSentence(model.state, model.now());
      if (base.graph !== graph) base = { graph, rows: graphRows(graph) };
      const rows = tableRows(base.rows, model.state, { filter, onlyLocked: isOnly, column, isDescending });
      const cut = filter || isOnly ? ` of ${base.rows.length.toLocaleString('en-US')}` : '';
      const total = `${formatCount(rows.length, 'file')}${cut}`;
      // Cells without a lock look as if files were free, so the page has to say if it does not know.
      const isKnown = model.state.locks.size > 0 || lockKnowledge(model.state) === 'known';
      let empty = 'No file matches the search.';
      if (base.rows.length === 0) empty = 'The import graph has no files yet.';
      else if (isOnly && !filter) empty = nothingText;
      return { rows, total: isKnown ? total : `${total}. ${nothingText}`, empty };
    },
    keyOf: ({ path }) => path,
    create: ({ path }) => tableRow(model, path),
    isAffectedBy: (changed) =>
      changed.has('graph') || changed.has('locks') || noLocksSentence(model.state, model.now()) !== nothingText,
  });
}

/** @param {Model} model @param {string} path */
function tableRow(model, path) {
  let expiry = 0;
  let shownHolders = '';
  const select = () => model.go({ file: path });
  const button = makeButton({ class: 'table-file', title: path, onclick: select });
  const { node, cells } = rowCells(FILE_COLUMNS, 'name', select);
  cells.name.append(button);
  const mode = makeElement('span', { class: 'mode' });
  cells.mode.append(mode);
  if (path.includes('/')) {
    const folder = path.slice(0, path.lastIndexOf('/'));
    cells.folder.append(pathText(folder));
    cells.folder.title = folder;
  }

  /** @param {number} now */
  function tick(now) {
    setText(cells.expiry, expiry > 0 ? countdown(expiry - now) : '');
  }

  return {
    node,
    button,
    tick,
    /** @param {TableRow} row */
    update(row) {
      const { state } = model;
      setAttribute(node, 'aria-current', state.place.file === path ? 'true' : null);
      setText(button, row.name);
      const locks = state.locks.get(path) ?? [];
      const currentMode = modeOf(state, path);
      setAttribute(mode, 'data-mode', currentMode);
      setText(mode, currentMode ?? '');
      const holders = locks.map(({ holder }) => nameOf(state, holder)).join(', ');
      if (holders !== shownHolders) {
        shownHolders = holders;
        const badges = locks.slice(0, 3).map(({ holder, agentId, userName }) => badge(holder, agentId, userName));
        cells.holder.replaceChildren(...badges, holders);
        cells.holder.title = holders;
      }
      expiry = Number(cellValue(row, 'expiry', state) ?? 0);
      const writers = state.neighbors.get(path) ?? [];
      if (writers.join(', ') !== cells.neighbor.title) {
        const more = writers.length > 1 ? ` +${writers.length - 1}` : '';
        cells.neighbor.replaceChildren(...(writers.length > 0 ? [pathText(writers[0]), more] : []));
        cells.neighbor.title = writers.join(', ');
      }
      for (const id of /** @type {const} */ (['message', 'language', 'importers', 'imports'])) {
        const text = String(cellValue(row, id, state) ?? '');
        setText(cells[id], text);
        if (id !== 'importers' && id !== 'imports') setAttribute(cells[id], 'title', text || null);
      }
      setText(cells.size, row.file?.size ? formatBytes(row.file.size) : '');
      tick(model.now());
    },
  };
}
