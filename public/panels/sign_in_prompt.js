// The text and button for a panel that a caller without a credential may not see.

import { makeButton, makeElement, setText } from '../app/dom.js';
import { toSentence } from '../app/status_sentences.js';

/** @param {string} text @param {() => void} signIn */
export function signInPrompt(text, signIn) {
  const reason = makeElement('p');
  const button = makeButton({ onclick: signIn }, 'Sign in');
  const node = makeElement('div', { class: 'empty', hidden: true }, makeElement('p', {}, text), reason, button);
  return {
    node,
    /** @param {string | null} message Of the server; `null` if the caller may see the panel. */
    update(message) {
      node.hidden = message === null;
      setText(reason, toSentence(message ?? ''));
    },
  };
}
