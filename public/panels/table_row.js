// One row of the table.

import { countdown } from '../app/time.js';
import { make, setAttribute, setText } from '../app/dom.js';
import { nameOf } from '../app/names.js';
import { byteSize } from '../app/words.js';
import { badge, modeOf, pathText } from './parts.js';
import { COLUMNS, valueOf } from './table_rows.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('./table_rows.js').TableRow} TableRow */

/** @param {Model} model @param {string} path */
export function tableRow(model, path) {
  let expiry = 0;
  let holders = '';
  const button = make('button', { type: 'button', class: 'table-file', title: path, onclick: () => model.go({ file: path }) });
  /** @type {Record<string, HTMLElement>} */
  const cells = {};
  const node = make('tr', { onclick: onClick });
  for (const { id, isNumber } of COLUMNS) {
    cells[id] = make(id === 'name' ? 'th' : 'td', { class: `col-${id}${isNumber ? ' is-number' : ''}`, scope: id === 'name' ? 'row' : null });
    node.append(cells[id]);
  }
  cells.name.append(button);
  const mode = make('span', { class: 'mode' });
  cells.mode.append(mode);
  if (path.includes('/')) {
    const folder = path.slice(0, path.lastIndexOf('/'));
    cells.folder.append(pathText(folder));
    cells.folder.title = folder;
  }

  /** A click beside the button is meant for it, unless it ends a selection of text. @param {MouseEvent} event */
  function onClick(event) {
    const isOnButton = event.target instanceof Element && event.target.closest('button');
    if (!isOnButton && !window.getSelection()?.toString()) model.go({ file: path });
  }

  /** @param {number} now */
  function tick(now) {
    setText(cells.expiry, expiry > 0 ? countdown(Math.max(0, expiry - now)) : '');
  }

  return {
    node,
    button,
    tick,
    /** @param {TableRow} row @param {number} place @param {boolean} isActive Whether the tab key comes to this row. */
    update(row, place, isActive) {
      const { state } = model;
      setAttribute(node, 'aria-rowindex', String(place + 2));
      setAttribute(node, 'aria-current', state.place.file === path ? 'true' : null);
      setAttribute(button, 'tabindex', isActive ? '0' : '-1');
      setText(button, row.name);
      const held = state.locks.get(path);
      const now = modeOf(state, path);
      setAttribute(mode, 'data-mode', now);
      setText(mode, now ?? '');
      const shown = held?.map(({ holder }) => nameOf(state, holder)).join(', ') ?? '';
      if (shown !== holders) {
        holders = shown;
        cells.holder.replaceChildren(...(held ?? []).slice(0, 3).map(({ holder, agentId, userName }) => badge(holder, agentId, userName)), shown);
        cells.holder.title = shown;
      }
      expiry = Number(valueOf(row, 'expiry', state) ?? 0);
      const writers = state.neighbors.get(path) ?? [];
      if (writers.join(', ') !== cells.neighbor.title) {
        cells.neighbor.replaceChildren(...(writers.length > 0 ? [pathText(writers[0]), writers.length > 1 ? ` +${writers.length - 1}` : ''] : []));
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
