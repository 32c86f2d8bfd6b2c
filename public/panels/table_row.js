// One row of the table of files.

import { countdown } from '../app/time.js';
import { make, setAttribute, setText } from '../app/dom.js';
import { nameOf } from '../app/names.js';
import { byteSize } from '../app/words.js';
import { badge, modeOf, pathText } from './parts.js';
import { COLUMNS, valueOf } from './table_rows.js';
import { rowCells } from './window_table.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('./table_rows.js').TableRow} TableRow */

/** @param {Model} model @param {string} path */
export function tableRow(model, path) {
  let expiry = 0;
  let shownHolders = '';
  const select = () => model.go({ file: path });
  const button = make('button', { type: 'button', class: 'table-file', title: path, onclick: select });
  const { node, cells } = rowCells(COLUMNS, 'name', select);
  cells.name.append(button);
  const mode = make('span', { class: 'mode' });
  cells.mode.append(mode);
  if (path.includes('/')) {
    const folder = path.slice(0, path.lastIndexOf('/'));
    cells.folder.append(pathText(folder));
    cells.folder.title = folder;
  }

  /** @param {number} now */
  function tick(now) {
    setText(cells.expiry, expiry > 0 ? countdown(Math.max(0, expiry - now)) : '');
  }

  return {
    node,
    button,
    tick,
    /** @param {TableRow} row @param {number} index @param {boolean} isActive Whether the tab key reaches this row. */
    update(row, index, isActive) {
      const { state } = model;
      setAttribute(node, 'aria-rowindex', String(index + 2));
      setAttribute(node, 'aria-current', state.place.file === path ? 'true' : null);
      setAttribute(button, 'tabindex', isActive ? '0' : '-1');
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
      expiry = Number(valueOf(row, 'expiry', state) ?? 0);
      const writers = state.neighbors.get(path) ?? [];
      if (writers.join(', ') !== cells.neighbor.title) {
        const more = writers.length > 1 ? ` +${writers.length - 1}` : '';
        cells.neighbor.replaceChildren(...(writers.length > 0 ? [pathText(writers[0]), more] : []));
        cells.neighbor.title = writers.join(', ');
      }
      for (const id of /** @type {const} */ (['message', 'language', 'importers', 'imports'])) {
        const text = String(valueOf(row, id, state) ?? '');
        setText(cells[id], text);
        if (id !== 'importers' && id !== 'imports') setAttribute(cells[id], 'title', text || null);
      }
      setText(cells.size, row.file?.size ? byteSize(row.file.size) : '');
      tick(model.now());
    },
  };
}
