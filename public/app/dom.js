// Elements are made and changed here, never from markup: what agents write cannot become elements.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Makes an element. Functions are listeners (`onclick`), `true` is an empty attribute, and `null`, `undefined` and `false` leave one out.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (value === true) node.setAttribute(name, '');
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, String(value));
  }
  for (const child of children) if (child || child === '') node.append(child);
  return node;
}

/**
 * An icon, one of the symbols in the page. It is decoration: the words beside it say the same.
 * @param {string} name
 * @returns {SVGSVGElement}
 */
export function icon(name) {
  const node = document.createElementNS(SVG, 'svg');
  node.setAttribute('class', 'icon');
  node.setAttribute('aria-hidden', 'true');
  node.append(document.createElementNS(SVG, 'use'));
  setIcon(node, name);
  return node;
}

/** @param {SVGSVGElement} node @param {string} name */
export function setIcon(node, name) {
  setAttribute(/** @type {Element} */ (node.firstChild), 'href', `#icon-${name}`);
}

/** Writes the text only if it differs, so that a selection of text stays. @param {Element} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** @param {Element} node @param {string} name @param {string | null} value `null` removes it. */
export function setAttribute(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/**
 * Keeps the children of an element in step with a list: a node stays the same one for as long as its key is in the list.
 * @template T
 * @param {Element} parent
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => { node: Element, update: (item: T) => void }} create
 * @returns {(items: T[]) => void}
 */
export function keyedChildren(parent, keyOf, create) {
  /** @type {Map<string, { node: Element, update: (item: T) => void }>} */
  let shown = new Map();
  return (items) => {
    const next = new Map();
    for (const item of items) {
      const key = keyOf(item);
      if (next.has(key)) continue;
      const row = shown.get(key) ?? create(item);
      row.update(item);
      next.set(key, row);
    }
    for (const [key, row] of shown) if (!next.has(key)) row.node.remove();
    let place = parent.firstElementChild;
    for (const row of next.values()) {
      if (row.node === place) place = row.node.nextElementSibling;
      else parent.insertBefore(row.node, place);
    }
    shown = next;
  };
}
