// A part that is folded until somebody wants it: what is in it is made then.

import { make, setText } from '../app/dom.js';

/**
 * @param {string} name Class.
 * @param {HTMLElement} content
 * @param {() => void} fill Called when it is opened.
 */
export function fold(name, content, fill) {
  const summary = make('summary', {});
  const node = /** @type {HTMLDetailsElement} */ (make('details', { class: `fold ${name}` }, summary, content));
  node.addEventListener('toggle', () => node.open && fill());
  return {
    node,
    /** @param {string} text What the folded part says; empty where there is nothing in it. */
    update(text) {
      node.hidden = text === '';
      setText(summary, text);
      if (node.open) fill();
    },
  };
}
