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
  let nothing = '';
  return windowTable(element, model, {
    name: 'files',
    label: 'Table of files',
    caption: 'Files with their locks. The buttons of the header sort; arrow keys move between files.',
    columns: COLUMNS,
    sortedBy: 'mode',
    only: 'Only locked and neighbors',
    list({ filter, isOnly, column, isDescending }) {
      const { graph } = model.state;
      nothing = nothingLocked(model.state, model.now());
      if (base.graph !== graph) base = { graph, rows: graphRows(graph) };
      const rows = tableRows(base.rows, model.state, { filter, onlyLocked: isOnly, column: /** @type {import('./table_rows.js').Column} */ (column), isDescending });
      const empty = base.rows.length === 0 ? 'The import graph has no files yet.' : isOnly && !filter ? nothing : 'No file matches the search.';
      const total = filter || isOnly ? `${counted(rows.length, 'file')} of ${base.rows.length.toLocaleString('en-US')}` : counted(rows.length, 'file');
      // Cells without a lock say that files are free.
      const isKnown = model.state.locks.size > 0 || lockKnowledge(model.state) === 'known';
      return { rows, total: isKnown ? total : `${total}. ${nothing}`, empty };
    },
    keyOf: ({ path }) => path,
    create: ({ path }) => tableRow(model, path),
    isAbout: (changed) => changed.has('graph') || changed.has('locks') || nothingLocked(model.state, model.now()) !== nothing,
  });
}
