// The text and button for a panel that a caller without a credential may not see.

import { make, setText } from '../app/dom.js';
import { sentence } from '../app/truth.js';

/**
 * @param {string} text
 * @param {() => void} signIn
 */
export function needsSignIn(text, signIn) {
  const reason = make('p', {});
  const button = make('button', { type: 'button', onclick: signIn }, 'Sign in');
  const node = make('div', { class: 'empty', hidden: true }, make('p', {}, text), reason, button);
  return {
    node,
    /** @param {string | null} message Of the server; `null` if the caller may see the panel. */
    update(message) {
      node.hidden = message === null;
      setText(reason, sentence(message ?? ''));
    },
  };
}
