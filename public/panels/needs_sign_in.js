// In place of what may not be seen without a credential.

import { make, setText } from '../app/dom.js';
import { sentence } from '../app/truth.js';

/**
 * @param {string} what
 * @param {() => void} signIn
 */
export function needsSignIn(what, signIn) {
  const why = make('p', {});
  const node = make('div', { class: 'empty', hidden: true }, make('p', {}, what), why, make('button', { type: 'button', onclick: signIn }, 'Sign in'));
  return {
    node,
    /** @param {string | null} message What the server says; none where all may be seen. */
    update(message) {
      node.hidden = message === null;
      setText(why, sentence(message ?? ''));
    },
  };
}
