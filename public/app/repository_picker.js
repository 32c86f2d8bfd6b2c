// The repository and branch in the top bar, and the panel that selects another one.

import { shortRepository } from './address.js';
import { icon, makeButton, makeElement, setText } from './dom.js';
import { servedRepositories } from './local_server.js';
import { readRecents } from './recents.js';
import { repositoryForm, repositoryList } from './repository_form.js';

/**
 * @param {HTMLElement} element
 * @param {import('./types.js').Model} model
 * @returns {{ update: () => void, open: () => void }}
 */
export function mountRepositoryPicker(element, model) {
  const name = makeElement('span', { class: 'place-name' });
  const branchName = makeElement('span', { class: 'place-branch-name' });
  const title = 'Choose a repository and a branch';
  const button = makeButton({ class: 'place-button', popovertarget: 'place-panel', title },
    name, makeElement('span', { class: 'place-branch' }, icon('branch'), branchName));
  const panel = makeElement('div', { id: 'place-panel', class: 'popover', popover: 'auto' });
  element.append(button, panel);
  const close = () => panel.hidePopover();

  async function fill() {
    const served = (await servedRepositories()) ?? [];
    const { repoUrl } = model.state.place;
    const activeBranches = repoUrl ? await model.branches() : [];
    const places = [...served, ...readRecents()];
    const ownBranches = places.filter((place) => place.repoUrl === repoUrl).map((place) => place.branch);
    const branches = [...new Set([...ownBranches, ...activeBranches])].sort();
    const indexOf = (/** @type {import('./recents.js').Recent} */ recent) =>
      places.findIndex((place) => place.repoUrl === recent.repoUrl && place.branch === recent.branch);
    const otherPlaces = places.filter((place, index) => place.repoUrl !== repoUrl && indexOf(place) === index);
    const lists = [
      repoUrl ? repositoryList(model, 'Branches', branches.map((branch) => ({ repoUrl, branch })), close, true) : null,
      repositoryList(model, 'Other repositories', otherPlaces, close),
    ];
    panel.replaceChildren(repositoryForm(model, close), ...lists.filter((list) => list !== null));
  }
  panel.addEventListener('beforetoggle', (event) => {
    if (/** @type {ToggleEvent} */ (event).newState !== 'open') return;
    panel.replaceChildren(repositoryForm(model, close));
    fill();
  });

  return {
    update() {
      const { place } = model.state;
      element.hidden = !place.repoUrl;
      setText(name, shortRepository(place.repoUrl ?? '').replace(/^github\.com\//, ''));
      setText(branchName, place.branch ?? '');
    },
    open: () => panel.showPopover(),
  };
}
