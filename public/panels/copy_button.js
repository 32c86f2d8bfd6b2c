// A button that copies a text, and reports whether that succeeded.

import { iconButton, makeElement, setText } from '../app/dom.js';

const STATUS_MS = 2000;

/**
 * @param {string} name The name of the button, which says what it copies.
 * @param {() => string} text
 */
export function copyButton(name, text) {
  const status = makeElement('span', { class: 'soft', role: 'status' });
  const button = iconButton('copy', { 'aria-label': name, title: name, onclick: copy });

  async function copy() {
    try {
      await navigator.clipboard.writeText(text());
      setText(status, 'Copied');
    } catch {
      setText(status, 'The browser does not allow copying.');
    }
    window.setTimeout(() => setText(status, ''), STATUS_MS);
  }
  return { status, button };
}
