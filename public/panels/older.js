// The end of a list that goes back in time: a button that loads older rows, and a text.

import { make, setAttribute, setText } from '../app/dom.js';
import { errorSentence } from '../app/words.js';

/**
 * @param {object} list
 * @param {string} list.rows The name of its rows.
 * @param {string} list.subject The subject of the sentence that says that they cannot be read.
 * @param {() => Promise<unknown>} list.load Reads older rows.
 * @param {() => void} list.render
 */
export function olderRows({ rows, subject, load, render }) {
  let isLoading = false;
  let problem = '';
  const button = make('button', { type: 'button', class: 'quiet feed-older', onclick: loadOlder }, 'Load older');
  const end = make('p', { class: 'feed-end soft', role: 'status' });

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
    end,
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
