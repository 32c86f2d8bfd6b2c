// A table that sorts by each column, and that the keyboard can walk through.
//
// The document has only the rows in view, because no browser handles 20,000 rows smoothly; `aria-rowcount` and
// `aria-rowindex` say where the rows are. The table has no pages, because the map has none: sorting by a column and
// scrolling is one gesture.

import { keyedChildren, makeButton, makeElement, setAttribute, setText } from '../app/dom.js';
import { onTick } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {{ id: string, label: string, isNumber: boolean, isDescendingFirst: boolean }} Column */
/**
 * `isOnly`: whether the switch is on.
 * @typedef {{ filter: string, isOnly: boolean, column: string, isDescending: boolean }} Choice
 */

/**
 * A row in view. The table makes a new one when its key comes into view.
 * @template R
 * @typedef {object} Row
 * @property {Element} node
 * @property {HTMLElement} button
 * @property {(row: R) => void} update
 * @property {(now: number) => void} tick
 */

/**
 * @template R
 * @typedef {object} Content
 * @property {string} name Class.
 * @property {string} label
 * @property {string} caption
 * @property {Column[]} columns
 * @property {string} sortedBy The column by which it is sorted at first.
 * @property {string} switchLabel The label of the switch that reduces the rows.
 * @property {(choice: Choice) => { rows: R[], total: string, empty: string }} list The rows in their order, a text
 *   about their number, and a text for a table without rows.
 * @property {(row: R) => string} keyOf
 * @property {(row: R) => Row<R>} create
 * @property {(changed: Set<import('../app/types.js').Part>) => boolean} isAffectedBy Whether the rows may have changed.
 */

/** Rows beyond each edge of the view, so that scrolling shows no gap. */
const MARGIN = 12;
/** Maximum number of rows to print. */
const MAX_PRINTED = 2000;
const STEPS = new Map([['ArrowDown', 1], ['ArrowUp', -1], ['Home', -Infinity], ['End', Infinity]]);

/**
 * @template R
 * @param {HTMLElement} element
 * @param {Model} model
 * @param {Content<R>} content
 */
export function windowTable(element, model, content) {
  const { name, label, caption, columns, sortedBy, switchLabel, list, keyOf, create, isAffectedBy } = content;
  let column = sortedBy;
  let isDescending = columns.find(({ id }) => id === sortedBy)?.isDescendingFirst ?? false;
  let isOnly = false;
  let rowHeight = 32;
  let active = 0;
  /** @type {R[]} */
  let rows = [];
  let isOutdated = true;
  let isPrinting = false;

  const total = makeElement('span', { class: 'soft', role: 'status' });
  const attributes = { type: 'checkbox', role: 'switch', onchange: onSwitch };
  const onlySwitch = makeElement('input', attributes);
  const headers = columns.map(({ id, label: words, isNumber, isDescendingFirst }) => {
    const button = makeButton({
      class: 'sort',
      onclick() {
        isDescending = column === id ? !isDescending : isDescendingFirst;
        column = id;
        reset();
      },
    }, words);
    return { id, node: makeElement('th', { scope: 'col', class: cellClass(id, isNumber) }, button) };
  });
  const spacer = () => makeElement('td', { colspan: columns.length });
  const [spaceBefore, spaceAfter] = [spacer(), spacer()];
  const spacerBody = (/** @type {HTMLElement} */ space) => makeElement('tbody', { 'aria-hidden': 'true' },
    makeElement('tr', { class: 'spacer', 'aria-hidden': 'true' }, space));
  const body = makeElement('tbody');
  const table = makeElement('table', { class: `windowed ${name}` },
    makeElement('caption', { class: 'unseen' }, caption),
    makeElement('thead', {}, makeElement('tr', { 'aria-rowindex': '1' }, ...headers.map(({ node }) => node))),
    spacerBody(spaceBefore), body, spacerBody(spaceAfter));
  const empty = makeElement('p', { class: 'empty' });
  const scroller = makeElement('div', {
    class: 'table-scroller', tabindex: '0', role: 'region', 'aria-label': label,
    onscroll: renderWindow, onkeydown: onKey,
  }, table, empty);
  element.classList.add('table-view');
  const switchNode = makeElement('label', { class: 'switch' }, onlySwitch, switchLabel);
  element.append(makeElement('div', { class: 'table-bar' }, total, switchNode), scroller);

  const renderRows = keyedChildren(body, (/** @type {number} */ index) => keyOf(rows[index]), (first) => {
    const row = create(rows[first]);
    const update = (/** @type {number} */ index) => {
      setAttribute(row.node, 'aria-rowindex', String(index + 2));
      // The tab key reaches only the active row.
      setAttribute(row.button, 'tabindex', index === active ? '0' : '-1');
      row.update(rows[index]);
    };
    return { ...row, update };
  });
  let rowsInView = renderRows([]);

  function onSwitch() {
    isOnly = onlySwitch.checked;
    reset();
  }

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
    const activeKey = rows[active] && keyOf(rows[active]);
    const listed = list({ filter: model.state.place.filter, isOnly, column, isDescending });
    rows = listed.rows;
    const activeIndex = activeKey === undefined ? -1 : rows.findIndex((row) => keyOf(row) === activeKey);
    const hasFocus = document.activeElement?.closest('tbody') === body;
    active = Math.max(0, hasFocus ? activeIndex : Math.min(active, rows.length - 1));
    for (const { id, node } of headers) {
      setAttribute(node, 'aria-sort', id === column ? (isDescending ? 'descending' : 'ascending') : null);
    }
    setAttribute(table, 'aria-rowcount', String(rows.length + 1));
    setText(total, listed.total);
    empty.hidden = rows.length > 0;
    setText(empty, listed.empty);
    renderWindow();
  }

  function renderWindow() {
    if (element.hidden) return;
    const height = body.firstElementChild?.getBoundingClientRect().height;
    if (height && !isPrinting) rowHeight = height;
    const firstVisible = Math.min(rows.length - 1, Math.floor(scroller.scrollTop / rowHeight));
    const first = isPrinting ? 0 : Math.max(0, firstVisible - MARGIN);
    const count = Math.ceil((scroller.clientHeight || 600) / rowHeight) + 2 * MARGIN;
    const last = Math.min(rows.length, isPrinting ? MAX_PRINTED : first + count);
    const hadFocus = body.contains(document.activeElement);
    spaceBefore.style.height = `${first * rowHeight}px`;
    spaceAfter.style.height = `${(rows.length - last) * rowHeight}px`;
    rowsInView = renderRows(Array.from({ length: last - first }, (_, offset) => first + offset));
    if (hadFocus && !body.contains(document.activeElement)) scroller.focus({ preventScroll: true });
  }

  /** Before and after printing: paper does not scroll. @param {Event} event */
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
    const focused = document.activeElement;
    if (focused?.closest('thead')) return;
    event.preventDefault();
    // The first key on the scroller only focuses the active row.
    if (focused !== scroller) active = Math.max(0, Math.min(rows.length - 1, active + step));
    reveal();
  }

  /** Scrolls the active row into view and focuses its button. */
  function reveal() {
    const headHeight = table.tHead?.getBoundingClientRect().height ?? 0;
    const top = active * rowHeight;
    const viewHeight = scroller.clientHeight - headHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + rowHeight > scroller.scrollTop + viewHeight) scroller.scrollTop = top + rowHeight - viewHeight;
    renderWindow();
    rowsInView.get(keyOf(rows[active]))?.button.focus({ preventScroll: true });
  }

  new ResizeObserver(() => (isOutdated ? sort() : renderWindow())).observe(element);
  window.addEventListener('beforeprint', onPrint);
  window.addEventListener('afterprint', onPrint);
  onTick(() => {
    if (element.hidden) return;
    for (const row of rowsInView.values()) row.tick(model.now());
  });
  let { filter } = model.state.place;
  model.subscribe((changed) => {
    const isFilterChanged = filter !== model.state.place.filter;
    filter = model.state.place.filter;
    if (isFilterChanged) reset();
    else if (isAffectedBy(changed) || isOutdated) sort();
    else if (changed.has('place')) renderWindow();
  });
  sort();
}

/**
 * Sorts rows by their values. Rows without a value are last in both directions.
 * @template R
 * @param {R[]} rows
 * @param {(row: R) => string | number | null} valueOf
 * @param {boolean} isDescending
 * @param {(one: R, other: R) => number} byDefault The order of equal values.
 * @returns {R[]}
 */
export function sortedRows(rows, valueOf, isDescending, byDefault) {
  const sign = isDescending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, value: valueOf(row) }));
  keyed.sort((a, b) => {
    if (a.value === b.value) return byDefault(a.row, b.row);
    if (a.value === null) return 1;
    if (b.value === null) return -1;
    // Numbers come before texts.
    if (typeof a.value !== typeof b.value) return typeof a.value === 'number' ? -sign : sign;
    return a.value < b.value ? -sign : sign;
  });
  return keyed.map(({ row }) => row);
}

/**
 * Makes a row and its cells. A click beside the buttons selects the row, unless it ends a selection of text.
 * @param {Column[]} columns
 * @param {string} headerId The column whose cell is the header of the row.
 * @param {() => void} select
 */
export function rowCells(columns, headerId, select) {
  const node = makeElement('tr', {
    onclick(/** @type {MouseEvent} */ event) {
      const isOnButton = event.target instanceof Element && event.target.closest('button');
      if (!isOnButton && !window.getSelection()?.toString()) select();
    },
  });
  /** @type {Record<string, HTMLElement>} */
  const cells = {};
  for (const { id, isNumber } of columns) {
    const isHeader = id === headerId;
    cells[id] = makeElement(isHeader ? 'th' : 'td', { class: cellClass(id, isNumber), scope: isHeader ? 'row' : null });
    node.append(cells[id]);
  }
  return { node, cells };
}

/** @param {string} id Of the column. @param {boolean} isNumber */
function cellClass(id, isNumber) {
  return `col-${id}${isNumber ? ' is-number' : ''}`;
}
