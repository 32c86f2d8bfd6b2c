// The form and the lists that select a repository and a branch.

import { NOTHING_CHOSEN, searchOf, shortRepository } from './address.js';
import { icon, make } from './dom.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./recents.js').Recent} Recent */

/**
 * @param {Model} model
 * @param {() => void} onSelect
 * @returns {HTMLElement}
 */
export function placeForm(model, onSelect) {
  const { repoUrl, branch } = model.state.place;
  const common = { required: true, autocomplete: 'off', spellcheck: 'false' };
  const field = (/** @type {string} */ label, /** @type {Record<string, unknown>} */ attributes) =>
    make('label', {}, label, make('input', { ...common, ...attributes }));
  const form = /** @type {HTMLFormElement} */ (make('form', { class: 'place-form' },
    field('Repository', { name: 'repo_url', value: repoUrl ?? '', placeholder: 'https://github.com/owner/name' }),
    field('Branch', { name: 'branch', value: branch ?? 'main' }),
    make('button', { class: 'primary' }, 'Open')));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const data = new FormData(form);
    model.go({ repoUrl: String(data.get('repo_url')).trim(), branch: String(data.get('branch')).trim() });
    onSelect();
  });
  return form;
}

/**
 * @param {Model} model
 * @param {string} title
 * @param {Recent[]} places
 * @param {() => void} onSelect
 * @param {boolean} [isBranchOnly] Whether all of them are branches of the selected repository.
 * @param {(place: Recent) => Node | null} [describe] Returns a description to show after the name.
 * @returns {HTMLElement | null} Links, so that the user can open one in another tab.
 */
export function placeList(model, title, places, onSelect, isBranchOnly = false, describe = () => null) {
  if (places.length === 0) return null;
  const { place } = model.state;
  const items = places.map(({ repoUrl, branch }) => {
    const isCurrent = repoUrl === place.repoUrl && branch === place.branch;
    const attributes = {
      href: searchOf({ ...NOTHING_CHOSEN, repoUrl, branch, view: place.view }),
      'aria-current': isCurrent ? 'true' : null,
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        model.go({ repoUrl, branch });
        onSelect();
      },
    };
    const name = isBranchOnly ? null : make('span', { class: 'place-name' }, shortRepository(repoUrl));
    const branchName = make('span', { class: 'place-branch' }, icon('branch'), branch);
    return make('li', {}, make('a', attributes, name, describe({ repoUrl, branch }), branchName));
  });
  return make('nav', { class: 'place-list', 'aria-label': title }, make('h2', {}, title), make('ul', {}, ...items));
}
