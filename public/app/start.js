// The view of a page that was opened without a repository.

import { make } from './dom.js';
import { placeForm, placeList } from './place_form.js';
import { readRecents } from './recents.js';
import { servedRepositories } from './served.js';

/** @typedef {import('./types.js').Model} Model */

/**
 * @param {HTMLElement} element Where it stands while no repository is shown.
 * @param {Model} model
 * @returns {{ update: () => void }}
 */
export function mountStart(element, model) {
  /** @type {HTMLElement | null} */
  let view = null;

  async function build() {
    const own = make('div', { class: 'start' },
      make('h1', {}, 'Watch a repository'),
      make('p', {}, 'The page shows the files of one branch, the agents that work on them, and what they say, as it happens.'));
    view = own;
    element.append(own);
    const served = (await servedRepositories()) ?? [];
    if (view !== own) return;
    const isServed = (/** @type {import('./recents.js').Recent} */ recent) =>
      served.some((place) => place.repoUrl === recent.repoUrl && place.branch === recent.branch);
    const recents = readRecents().filter((recent) => !isServed(recent));
    const parts = [
      placeList(model, 'Served here', served, () => {}),
      placeList(model, 'Opened last', recents, () => {}),
      placeForm(model, () => {}),
    ];
    own.append(...parts.filter((part) => part !== null));
  }

  return {
    update() {
      const isWanted = model.state.place.repoUrl === null;
      document.body.toggleAttribute('data-start', isWanted);
      if (isWanted && !view) build();
      else if (!isWanted && view) {
        view.remove();
        view = null;
      }
    },
  };
}
