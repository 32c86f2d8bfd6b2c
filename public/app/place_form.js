// The form and the lists by which a repository and a branch are chosen.

import { NOTHING_CHOSEN, searchOf, shortRepository } from './address.js';
import { icon, make } from './dom.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./recents.js').Recent} Recent */

/**
 * @param {Model} model
 * @param {() => void} done
 * @returns {HTMLElement}
 */
export function placeForm(model, done) {
  const { repoUrl, branch } = model.state.place;
  const field = (/** @type {string} */ label, /** @type {Record<string, unknown>} */ attributes) =>
    make('label', {}, label, make('input', { required: true, autocomplete: 'off', spellcheck: 'false', ...attributes }));
  const form = /** @type {HTMLFormElement} */ (make('form', { class: 'place-form' },
    field('Repository', { name: 'repo_url', value: repoUrl ?? '', placeholder: 'https://github.com/owner/name' }),
    field('Branch', { name: 'branch', value: branch ?? 'main' }),
    make('button', { class: 'primary' }, 'Open')));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const data = new FormData(form);
    model.go({ repoUrl: String(data.get('repo_url')).trim(), branch: String(data.get('branch')).trim() });
    done();
  });
  return form;
}

/**
 * @param {Model} model
 * @param {string} title
 * @param {Recent[]} places
 * @param {() => void} done
 * @param {boolean} [isBranchOnly] Whether all are branches of the repository that is shown.
 * @param {(place: Recent) => Node | null} [describe] What stands beside a name.
 * @returns {HTMLElement | null} Links, so that one can be opened in another tab.
 */
export function placeList(model, title, places, done, isBranchOnly = false, describe = () => null) {
  if (places.length === 0) return null;
  const { place } = model.state;
  const items = places.map(({ repoUrl, branch }) => {
    const isCurrent = repoUrl === place.repoUrl && branch === place.branch;
    const link = make('a', {
      href: searchOf({ ...NOTHING_CHOSEN, repoUrl, branch, view: place.view }),
      'aria-current': isCurrent ? 'true' : null,
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        model.go({ repoUrl, branch });
        done();
      },
    }, isBranchOnly ? null : make('span', { class: 'place-name' }, shortRepository(repoUrl)), describe({ repoUrl, branch }), make('span', { class: 'place-branch' }, icon('branch'), branch));
    return make('li', {}, link);
  });
  return make('nav', { class: 'place-list', 'aria-label': title }, make('h2', {}, title), make('ul', {}, ...items));
}
