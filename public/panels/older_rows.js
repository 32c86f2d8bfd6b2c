// A list that goes back in time, with a button that loads older rows, and a text at its end.

import { makeButton, makeElement, setAttribute, setText } from '../app/dom.js';
import { errorSentence } from '../app/formatting.js';

/**
 * @param {object} options
 * @param {HTMLElement} options.list
 * @param {string} options.label
 * @param {string} options.rows The name of its rows.
 * @param {string} options.subject The subject of the sentence that says that they cannot be read.
 * @param {() => Promise<unknown>} options.load Reads older rows.
 * @param {() => void} options.render
 */
export function olderRows({ list, label, rows, subject, load, render }) {
  let isLoading = false;
  let problem = '';
  const button = makeButton({ class: 'quiet feed-older', onclick: loadOlder }, 'Load older');
  const end = makeElement('p', { class: 'feed-end soft', role: 'status' });
  const attributes = { class: 'feed-scroller', tabindex: '0', role: 'region', 'aria-label': label };
  const frame = makeElement('div', { class: 'feed-frame' }, makeElement('div', attributes, list, button, end));

  async function loadOlder() {
    if (isLoading) return;
    isLoading = true;
    problem = '';
    setAttribute(button, 'aria-busy', 'true');
    render();
    try {
      await load();
    } catch (error) {
      problem = `${subject} cannot be read: ${errorSentence(error)} Try again.`;
    }
    isLoading = false;
    setAttribute(button, 'aria-busy', null);
    render();
  }

  return {
    button,
    frame,
    /** @param {string} text Shown at the end, unless rows are loading or could not be read. */
    setEndText(text) {
      setText(end, isLoading ? `Loading older ${rows}` : problem || text);
    },
    /** Called when the list has changed, so that the last problem is over. */
    clearProblem() {
      problem = '';
    },
  };
}
