// A button that copies a text, and says whether it could.

import { icon, make, setText } from '../app/dom.js';

const SAID_MS = 2000;

/**
 * @param {string} name What it copies: the name of the button.
 * @param {() => string} text
 */
export function copyButton(name, text) {
  const said = make('span', { class: 'soft', role: 'status' });
  const button = make('button', { type: 'button', class: 'icon-button', 'aria-label': name, title: name, onclick: copy }, icon('copy'));

  async function copy() {
    try {
      await navigator.clipboard.writeText(text());
      setText(said, 'Copied');
    } catch {
      setText(said, 'The browser does not allow copying.');
    }
    window.setTimeout(() => setText(said, ''), SAID_MS);
  }
  return { said, button };
}
