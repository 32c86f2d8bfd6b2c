// A section that the user can open. Its content is made when it is opened.

import { makeElement, setText } from '../app/dom.js';

/**
 * @param {string} name Class.
 * @param {HTMLElement} content
 * @param {() => void} fill Called when it is opened.
 */
export function fold(name, content, fill) {
  const summary = makeElement('summary');
  const node = makeElement('details', { class: `fold ${name}` }, summary, content);
  node.addEventListener('toggle', () => node.open && fill());
  return {
    node,
    /** @param {string} text The summary; empty to hide the section. */
    update(text) {
      node.hidden = text === '';
      setText(summary, text);
      if (node.open) fill();
    },
  };
}
