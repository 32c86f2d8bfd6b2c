// The repository and branch in the top bar, and the panel that chooses another.

import { shortRepository } from './address.js';
import { icon, make, setText } from './dom.js';
import { placeForm, placeList } from './place_form.js';
import { readRecents } from './recents.js';
import { servedRepositories } from './served.js';

/** @typedef {import('./types.js').Model} Model */

/**
 * @param {HTMLElement} element
 * @param {Model} model
 * @returns {{ update: () => void, open: () => void }}
 */
export function mountPicker(element, model) {
  const name = make('span', { class: 'place-name' });
  const branch = make('span', { class: 'place-branch-name' });
  const button = make('button', { type: 'button', class: 'place-button', popovertarget: 'place-panel', title: 'Choose a repository and a branch' },
    name, make('span', { class: 'place-branch' }, icon('branch'), branch));
  const panel = make('div', { id: 'place-panel', class: 'popover', popover: 'auto' });
  element.append(button, panel);
  const done = () => panel.hidePopover();

  async function fill() {
    const served = (await servedRepositories()) ?? [];
    const { repoUrl } = model.state.place;
    const heard = repoUrl ? await model.branches() : [];
    const recents = readRecents();
    const own = [...served, ...recents].filter((place) => place.repoUrl === repoUrl).map((place) => place.branch);
    const branches = [...new Set([...own, ...heard])].sort();
    const others = [...served, ...recents].filter((place, index, all) =>
      place.repoUrl !== repoUrl && all.findIndex((other) => other.repoUrl === place.repoUrl && other.branch === place.branch) === index);
    const lists = [
      repoUrl && placeList(model, 'Branches', branches.map((each) => ({ repoUrl, branch: each })), done, true),
      placeList(model, 'Other repositories', others, done),
    ];
    panel.replaceChildren(placeForm(model, done), ...lists.filter((list) => list !== null && list !== ''));
  }
  panel.addEventListener('beforetoggle', (event) => {
    if (/** @type {ToggleEvent} */ (event).newState !== 'open') return;
    panel.replaceChildren(placeForm(model, done));
    fill();
  });

  return {
    update() {
      const { place } = model.state;
      element.hidden = !place.repoUrl;
      setText(name, shortRepository(place.repoUrl ?? '').replace(/^github\.com\//, ''));
      setText(branch, place.branch ?? '');
    },
    open: () => panel.showPopover(),
  };
}
