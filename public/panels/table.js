// The table view: everything that the map shows, as text.

import { lockKnowledge } from '../app/lock_knowledge.js';
import { nothingLocked } from '../app/truth.js';
import { counted } from '../app/words.js';
import { tableRow } from './table_row.js';
import { COLUMNS, graphRows, tableRows } from './table_rows.js';
import { windowTable } from './window_table.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('./table_rows.js').TableRow} TableRow */

/**
 * @param {HTMLElement} element
 * @param {Model} model
 */
export function mountTable(element, model) {
  /** @type {{ graph: unknown, rows: TableRow[] }} */
  let base = { graph: undefined, rows: [] };
  let nothingText = '';
  windowTable(element, model, {
    name: 'files',
    label: 'Table of files',
    caption: 'Files with their locks. The buttons of the header sort; arrow keys move between files.',
    columns: COLUMNS,
    sortedBy: 'mode',
    switchLabel: 'Only locked files and neighbors',
    list({ filter, isOnly, column: id, isDescending }) {
      const { graph } = model.state;
      const column = /** @type {import('./table_rows.js').Column} */ (id);
      nothingText = nothingLocked(model.state, model.now());
      if (base.graph !== graph) base = { graph, rows: graphRows(graph) };
      const rows = tableRows(base.rows, model.state, { filter, onlyLocked: isOnly, column, isDescending });
      const isCut = filter || isOnly;
      const total = `${counted(rows.length, 'file')}${isCut ? ` of ${base.rows.length.toLocaleString('en-US')}` : ''}`;
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
      changed.has('graph') || changed.has('locks') || nothingLocked(model.state, model.now()) !== nothingText,
  });
}
