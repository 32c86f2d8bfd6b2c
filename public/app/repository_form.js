// The form and the lists that select a repository and a branch.

import { NO_SELECTION, queryOf, shortRepository } from './address.js';
import { icon, makeElement } from './dom.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./recents.js').Recent} Recent */

/** @param {Model} model @param {() => void} onSelect @returns {HTMLElement} */
export function repositoryForm(model, onSelect) {
  const { repoUrl, branch } = model.state.place;
  const common = { required: true, autocomplete: 'off', spellcheck: 'false' };
  const field = (/** @type {string} */ label, /** @type {Record<string, unknown>} */ attributes) =>
    makeElement('label', {}, label, makeElement('input', { ...common, ...attributes }));
  const form = makeElement('form', { class: 'place-form' },
    field('Repository', { name: 'repo_url', value: repoUrl ?? '', placeholder: 'https://github.com/owner/name' }),
    field('Branch', { name: 'branch', value: branch ?? 'main' }),
    makeElement('button', { class: 'primary' }, 'Open'));
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
export function repositoryList(model, title, places, onSelect, isBranchOnly = false, describe = () => null) {
  if (places.length === 0) return null;
  const { place } = model.state;
  const items = places.map(({ repoUrl, branch }) => {
    const isCurrent = repoUrl === place.repoUrl && branch === place.branch;
    const attributes = {
      href: queryOf({ ...NO_SELECTION, repoUrl, branch, view: place.view }),
      'aria-current': isCurrent ? 'true' : null,
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        model.go({ repoUrl, branch });
        onSelect();
      },
    };
    const name = isBranchOnly ? null : makeElement('span', { class: 'place-name' }, shortRepository(repoUrl));
    const branchName = makeElement('span', { class: 'place-branch' }, icon('branch'), branch);
    return makeElement('li', {}, makeElement('a', attributes, name, describe({ repoUrl, branch }), branchName));
  });
  const list = makeElement('ul', {}, ...items);
  return makeElement('nav', { class: 'place-list', 'aria-label': title }, makeElement('h2', {}, title), list);
}
