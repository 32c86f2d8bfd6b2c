// The table view: everything that the map shows, as text.
//
// Only the rows in view are in the document, because 20,000 rows are not smooth in any browser; `aria-rowcount` and `aria-rowindex` say
// where they are among all. Windowing was preferred to pages, because the map has no pages: sorting by a column and scrolling is one gesture.

import { keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { counted } from '../app/words.js';
import { tableRow } from './table_row.js';
import { COLUMNS, graphRows, tableRows } from './table_rows.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('./table_rows.js').TableRow} TableRow */
/** @typedef {import('./table_rows.js').Column} Column */

/** Rows beyond each edge of the view, so that scrolling shows no gap. */
const MARGIN = 12;
/** Rows that are printed at most. */
const MOST_PRINTED = 2000;
const STEPS = new Map([['ArrowDown', 1], ['ArrowUp', -1], ['Home', -Infinity], ['End', Infinity]]);

/**
 * @param {HTMLElement} element
 * @param {Model} model
 */
export function mountTable(element, model) {
  /** @type {Column} */
  let column = 'mode';
  let isDescending = true;
  let onlyLocked = false;
  let rowHeight = 32;
  let active = 0;
  /** @type {TableRow[]} */
  let rows = [];
  /** @type {{ graph: unknown, rows: TableRow[] }} */
  let base = { graph: undefined, rows: [] };
  let isOutdated = true;
  let isPrinting = false;

  const total = make('span', { class: 'soft', role: 'status' });
  const only = /** @type {HTMLInputElement} */ (make('input', { type: 'checkbox', role: 'switch', onchange: () => { onlyLocked = only.checked; reset(); } }));
  const headers = COLUMNS.map(({ id, label, isNumber, isDescendingFirst }) => {
    const button = make('button', {
      type: 'button', class: 'sort',
      onclick() {
        isDescending = column === id ? !isDescending : isDescendingFirst;
        column = id;
        reset();
      },
    }, label);
    return { id, node: make('th', { scope: 'col', class: `col-${id}${isNumber ? ' is-number' : ''}` }, button) };
  });
  const before = make('tr', { class: 'spacer', 'aria-hidden': 'true' }, make('td', { colspan: COLUMNS.length }));
  const body = make('tbody');
  const after = make('tr', { class: 'spacer', 'aria-hidden': 'true' }, make('td', { colspan: COLUMNS.length }));
  const table = /** @type {HTMLTableElement} */ (make('table', { class: 'files' },
    make('caption', { class: 'unseen' }, 'Files with their locks. The buttons of the header sort; arrow keys move between files.'),
    make('thead', {}, make('tr', { 'aria-rowindex': '1' }, ...headers.map(({ node }) => node))),
    make('tbody', { 'aria-hidden': 'true' }, before), body, make('tbody', { 'aria-hidden': 'true' }, after)));
  const empty = make('p', { class: 'empty' });
  const scroller = make('div', { class: 'table-scroller', tabindex: '0', role: 'region', 'aria-label': 'Table of files', onscroll: renderWindow, onkeydown: onKey }, table, empty);
  element.classList.add('table-view');
  element.append(make('div', { class: 'table-bar' }, total, make('label', { class: 'switch' }, only, 'Only locked and neighbors')), scroller);

  /** @type {Map<string, ReturnType<typeof tableRow>>} */
  const shown = new Map();
  const renderRows = keyedChildren(body, (/** @type {number} */ index) => rows[index].path, (index) => {
    const row = tableRow(model, rows[index].path);
    shown.set(rows[index].path, row);
    return { node: row.node, update: (place) => row.update(rows[place], place, place === active) };
  });

  function reset() {
    scroller.scrollTop = 0;
    active = 0;
    sort();
  }

  function sort() {
    if (element.hidden) {
      isOutdated = true;
      return;
    }
    isOutdated = false;
    const { graph, place } = model.state;
    if (base.graph !== graph) base = { graph, rows: graphRows(graph) };
    const path = rows[active]?.path;
    rows = tableRows(base.rows, model.state, { filter: place.filter, onlyLocked, column, isDescending });
    const kept = path === undefined ? -1 : rows.findIndex((row) => row.path === path);
    active = Math.max(0, document.activeElement?.closest('tbody') === body ? kept : Math.min(active, rows.length - 1));
    for (const { id, node } of headers) setAttribute(node, 'aria-sort', id === column ? (isDescending ? 'descending' : 'ascending') : null);
    setAttribute(table, 'aria-rowcount', String(rows.length + 1));
    setText(total, place.filter || onlyLocked ? `${counted(rows.length, 'file')} of ${base.rows.length.toLocaleString('en-US')}` : counted(rows.length, 'file'));
    empty.hidden = rows.length > 0;
    setText(empty, base.rows.length === 0 ? 'The import graph has no files yet.' : onlyLocked && !place.filter ? 'Nothing is locked: every file is free.' : 'No file matches the search.');
    renderWindow();
  }

  function renderWindow() {
    if (element.hidden) return;
    const height = body.firstElementChild?.getBoundingClientRect().height;
    if (height && !isPrinting) rowHeight = height;
    const inSight = Math.max(0, Math.min(rows.length - 1, Math.floor(scroller.scrollTop / rowHeight)) - MARGIN);
    const first = isPrinting ? 0 : inSight;
    const last = Math.min(rows.length, isPrinting ? MOST_PRINTED : first + Math.ceil((scroller.clientHeight || 600) / rowHeight) + 2 * MARGIN);
    const hadFocus = body.contains(document.activeElement);
    /** @type {HTMLElement} */ (before.firstChild).style.height = `${first * rowHeight}px`;
    /** @type {HTMLElement} */ (after.firstChild).style.height = `${(rows.length - last) * rowHeight}px`;
    const places = Array.from({ length: last - first }, (_, offset) => first + offset);
    renderRows(places);
    const inView = new Set(places.map((place) => rows[place].path));
    for (const path of shown.keys()) if (!inView.has(path)) shown.delete(path);
    if (hadFocus && !body.contains(document.activeElement)) scroller.focus({ preventScroll: true });
  }

  /** @param {Event} event Before or after printing: on paper there is nothing to scroll. */
  function onPrint(event) {
    isPrinting = event.type === 'beforeprint';
    if (isOutdated) sort();
    else renderWindow();
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const isPage = event.key === 'PageDown' || event.key === 'PageUp';
    const page = Math.max(1, Math.floor(scroller.clientHeight / rowHeight) - 2);
    const step = isPage ? (event.key === 'PageDown' ? page : -page) : STEPS.get(event.key);
    if (step === undefined || rows.length === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    if (document.activeElement?.closest('thead')) return;
    event.preventDefault();
    const isInside = body.contains(document.activeElement);
    active = isInside || document.activeElement !== scroller ? Math.max(0, Math.min(rows.length - 1, active + step)) : active;
    reveal();
  }

  /** Scrolls the active row into view and focuses its button. */
  function reveal() {
    const head = table.tHead?.getBoundingClientRect().height ?? 0;
    const top = active * rowHeight;
    const view = scroller.clientHeight - head;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + rowHeight > scroller.scrollTop + view) scroller.scrollTop = top + rowHeight - view;
    renderWindow();
    shown.get(rows[active].path)?.button.focus({ preventScroll: true });
  }

  const observer = new ResizeObserver(() => (isOutdated ? sort() : renderWindow()));
  observer.observe(element);
  window.addEventListener('beforeprint', onPrint);
  window.addEventListener('afterprint', onPrint);
  const endTicks = everySecond(() => {
    if (element.hidden) return;
    for (const row of shown.values()) row.tick(model.now());
  });
  let filter = model.state.place.filter;
  const unsubscribe = model.subscribe((changed) => {
    const hasFilter = filter !== model.state.place.filter;
    filter = model.state.place.filter;
    if (hasFilter) reset();
    else if (changed.has('graph') || changed.has('locks') || isOutdated) sort();
    else if (changed.has('place')) renderWindow();
  });
  sort();
  return {
    destroy() {
      observer.disconnect();
      window.removeEventListener('beforeprint', onPrint);
      window.removeEventListener('afterprint', onPrint);
      endTicks();
      unsubscribe();
    },
  };
}
