// A table that sorts by each column, and is walked through by keys.
//
// Only the rows in view are in the document, because 20,000 rows are not smooth in any browser; `aria-rowcount` and `aria-rowindex` say
// where they are among all. Windowing was preferred to pages, because the map has no pages: sorting by a column and scrolling is one gesture.

import { keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {{ id: string, label: string, isNumber: boolean, isDescendingFirst: boolean }} Column */
/** @typedef {{ filter: string, isOnly: boolean, column: string, isDescending: boolean }} Choice */

/**
 * A row in view. A new one is made when its key comes into view.
 * @template R
 * @typedef {{ node: Element, button: HTMLElement, update: (row: R, place: number, isActive: boolean) => void, tick: (now: number) => void }} Row
 */

/**
 * What a table is of.
 * @template R
 * @typedef {object} Content
 * @property {string} name Class.
 * @property {string} label
 * @property {string} caption
 * @property {Column[]} columns
 * @property {string} sortedBy The column by which it is sorted at first.
 * @property {string} only What the switch leaves.
 * @property {(choice: Choice) => { rows: R[], total: string, empty: string }} list The rows in their order, and what is said of them.
 * @property {(row: R) => string} keyOf
 * @property {(row: R) => Row<R>} create
 * @property {(changed: Set<import('../app/types.js').Part>) => boolean} isAbout Whether rows may have changed.
 */

/** Rows beyond each edge of the view, so that scrolling shows no gap. */
const MARGIN = 12;
/** Rows that are printed at most. */
const MOST_PRINTED = 2000;
const STEPS = new Map([['ArrowDown', 1], ['ArrowUp', -1], ['Home', -Infinity], ['End', Infinity]]);

/**
 * @template R
 * @param {HTMLElement} element
 * @param {Model} model
 * @param {Content<R>} content
 */
export function windowTable(element, model, { name, label, caption, columns, sortedBy, only: onlyWords, list, keyOf, create, isAbout }) {
  let column = sortedBy;
  let isDescending = columns.find(({ id }) => id === sortedBy)?.isDescendingFirst ?? false;
  let isOnly = false;
  let rowHeight = 32;
  let active = 0;
  /** @type {R[]} */
  let rows = [];
  let isOutdated = true;
  let isPrinting = false;

  const total = make('span', { class: 'soft', role: 'status' });
  const only = /** @type {HTMLInputElement} */ (make('input', { type: 'checkbox', role: 'switch', onchange: () => { isOnly = only.checked; reset(); } }));
  const headers = columns.map(({ id, label: words, isNumber, isDescendingFirst }) => {
    const button = make('button', {
      type: 'button', class: 'sort',
      onclick() {
        isDescending = column === id ? !isDescending : isDescendingFirst;
        column = id;
        reset();
      },
    }, words);
    return { id, node: make('th', { scope: 'col', class: `col-${id}${isNumber ? ' is-number' : ''}` }, button) };
  });
  const before = make('tr', { class: 'spacer', 'aria-hidden': 'true' }, make('td', { colspan: columns.length }));
  const body = make('tbody');
  const after = make('tr', { class: 'spacer', 'aria-hidden': 'true' }, make('td', { colspan: columns.length }));
  const table = /** @type {HTMLTableElement} */ (make('table', { class: `windowed ${name}` },
    make('caption', { class: 'unseen' }, caption),
    make('thead', {}, make('tr', { 'aria-rowindex': '1' }, ...headers.map(({ node }) => node))),
    make('tbody', { 'aria-hidden': 'true' }, before), body, make('tbody', { 'aria-hidden': 'true' }, after)));
  const empty = make('p', { class: 'empty' });
  const scroller = make('div', { class: 'table-scroller', tabindex: '0', role: 'region', 'aria-label': label, onscroll: renderWindow, onkeydown: onKey }, table, empty);
  element.classList.add('table-view');
  element.append(make('div', { class: 'table-bar' }, total, make('label', { class: 'switch' }, only, onlyWords)), scroller);

  /** @type {Map<string, Row<R>>} */
  const shown = new Map();
  const renderRows = keyedChildren(body, (/** @type {number} */ index) => keyOf(rows[index]), (index) => {
    const row = create(rows[index]);
    shown.set(keyOf(rows[index]), row);
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
    const key = rows[active] && keyOf(rows[active]);
    const listed = list({ filter: model.state.place.filter, isOnly, column, isDescending });
    rows = listed.rows;
    const kept = key === undefined ? -1 : rows.findIndex((row) => keyOf(row) === key);
    active = Math.max(0, document.activeElement?.closest('tbody') === body ? kept : Math.min(active, rows.length - 1));
    for (const { id, node } of headers) setAttribute(node, 'aria-sort', id === column ? (isDescending ? 'descending' : 'ascending') : null);
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
    const inSight = Math.max(0, Math.min(rows.length - 1, Math.floor(scroller.scrollTop / rowHeight)) - MARGIN);
    const first = isPrinting ? 0 : inSight;
    const last = Math.min(rows.length, isPrinting ? MOST_PRINTED : first + Math.ceil((scroller.clientHeight || 600) / rowHeight) + 2 * MARGIN);
    const hadFocus = body.contains(document.activeElement);
    /** @type {HTMLElement} */ (before.firstChild).style.height = `${first * rowHeight}px`;
    /** @type {HTMLElement} */ (after.firstChild).style.height = `${(rows.length - last) * rowHeight}px`;
    const places = Array.from({ length: last - first }, (_, offset) => first + offset);
    renderRows(places);
    const inView = new Set(places.map((place) => keyOf(rows[place])));
    for (const key of shown.keys()) if (!inView.has(key)) shown.delete(key);
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
    shown.get(keyOf(rows[active]))?.button.focus({ preventScroll: true });
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
    else if (isAbout(changed) || isOutdated) sort();
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
