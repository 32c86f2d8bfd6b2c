// The end of a list that is read back in time: a button for older rows, and what is said there.

import { make, setAttribute, setText } from '../app/dom.js';

/**
 * @param {{ rows: string, whole: string, load: () => Promise<unknown>, render: () => void }} list What its rows are called, the subject
 *   of the sentence if they cannot be read, how more are read, and how all is shown.
 */
export function olderRows({ rows, whole, load, render }) {
  let isLoading = false;
  let problem = '';
  const button = make('button', { type: 'button', class: 'quiet feed-older', onclick: lengthen }, 'Load older');
  const end = make('p', { class: 'feed-end soft', role: 'status' });

  async function lengthen() {
    if (isLoading) return;
    isLoading = true;
    problem = '';
    setAttribute(button, 'aria-busy', 'true');
    render();
    try {
      await load();
    } catch (error) {
      problem = `${whole} cannot be read: ${error instanceof Error ? error.message : error} Try again.`;
    }
    isLoading = false;
    setAttribute(button, 'aria-busy', null);
    render();
  }

  return {
    button,
    end,
    /** @param {string} text What is said at the end while nothing is read. */
    say(text) {
      setText(end, isLoading ? `Loading older ${rows}` : problem || text);
    },
    /** Something has come: what went wrong before is over. */
    forget() {
      problem = '';
    },
  };
}
