// The page makes and changes elements here, never from markup, so that text of agents cannot become an element.

/** @typedef {Node | string | null | undefined | false} Child */

export const SVG = 'http://www.w3.org/2000/svg';

/** Returns an element that is part of the page. @param {string} id */
export function elementById(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * Makes an element. A function is a listener (`onclick`), `true` an empty attribute; `null`, `undefined` and `false`
 * omit the attribute.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function makeElement(tag, attributes = {}, ...children) {
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
 * Makes an icon, one of the symbols in the page. It is decoration: the words beside it have the same meaning.
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

/**
 * Makes a button, which submits no form.
 * @param {Record<string, unknown>} attributes
 * @param {...Child} children
 */
export function makeButton(attributes, ...children) {
  return makeElement('button', { type: 'button', ...attributes }, ...children);
}

/** Makes a button with only an icon. @param {string} name @param {Record<string, unknown>} attributes */
export function iconButton(name, attributes) {
  return makeButton({ class: 'icon-button', ...attributes }, icon(name));
}

/** @param {HTMLCanvasElement} canvas @param {CanvasRenderingContext2DSettings} [settings] */
export function canvasContext(canvas, settings) {
  const context = canvas.getContext('2d', settings);
  if (!context) throw new Error('This browser has no 2D canvas');
  return context;
}

/** Writes the text only if it differs, to keep a selection of text. @param {Element} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** @param {Element} node @param {string} name @param {string | null} value `null` removes it. */
export function setAttribute(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/**
 * Keeps the children of an element in step with a list. As long as a key is in the list, its row stays the same.
 * @template T
 * @template {{ node: Element, update: (item: T) => void }} Row
 * @param {Element} parent
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => Row} create
 * @returns {(items: T[]) => Map<string, Row>} Returns the rows by key, in the order of the list.
 */
export function keyedChildren(parent, keyOf, create) {
  /** @type {Map<string, Row>} */
  let rows = new Map();
  return (items) => {
    const nextRows = new Map();
    for (const item of items) {
      const key = keyOf(item);
      if (nextRows.has(key)) continue;
      const row = rows.get(key) ?? create(item);
      row.update(item);
      nextRows.set(key, row);
    }
    for (const [key, row] of rows) if (!nextRows.has(key)) row.node.remove();
    let sibling = parent.firstElementChild;
    for (const { node } of nextRows.values()) {
      if (node === sibling) sibling = node.nextElementSibling;
      else parent.insertBefore(node, sibling);
    }
    rows = nextRows;
    return rows;
  };
}
