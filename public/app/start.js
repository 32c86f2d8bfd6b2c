// The view of a page that was opened without a repository: all that are known, with who works in each.

import { deedOf } from '../panels/feed.js';
import { make, setText } from './dom.js';
import { nameOf } from './names.js';
import { placeForm, placeList } from './place_form.js';
import { readRecents } from './recents.js';
import { servedRepositories } from './served.js';
import { ago } from './time.js';
import { counted } from './words.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./recents.js').Recent} Recent */

/** Between two readings of all. */
const AGAIN_MS = 15_000;
/** So many are read. */
const MOST = 30;

/** @param {import('./overview.js').Overview} overview @param {number} now */
function sentenceOf({ agents, locked, blocked, last }, now) {
  const parts = agents === 0 ? ['nobody at work'] : [counted(agents, 'agent'), `${locked} locked`, blocked > 0 ? `${blocked} blocked` : ''];
  const who = last?.holder ? `${nameOf({ hasSeveralLogins: false }, last.holder)} ` : '';
  return [...parts, last ? `${who}${deedOf(last)}, ${ago(now - last.at)}` : ''].filter(Boolean).join(' \u00b7 ');
}

/**
 * @param {HTMLElement} element Where it stands while no repository is shown.
 * @param {Model} model
 * @returns {{ update: () => void }}
 */
export function mountStart(element, model) {
  /** @type {HTMLElement | null} */
  let view = null;
  /** Where each repository is described, by its address. @type {Map<string, HTMLElement[]>} */
  let lines = new Map();
  let timer = 0;

  /** @param {Recent} place */
  function describe({ repoUrl }) {
    const node = make('span', { class: 'place-overview' });
    lines.set(repoUrl, [...(lines.get(repoUrl) ?? []), node]);
    return node;
  }

  /** One after the other: a server is not asked for all at once. */
  async function read() {
    const own = view;
    for (const [repoUrl, nodes] of [...lines].slice(0, MOST)) {
      if (view !== own || document.visibilityState !== 'visible') break;
      try {
        const text = sentenceOf(await model.overview(repoUrl), model.now());
        for (const node of nodes) setText(node, text);
      } catch {
        // That it cannot be read is said when it is opened.
        for (const node of nodes) setText(node, '');
      }
    }
    if (view === own && own) timer = window.setTimeout(read, AGAIN_MS);
  }

  async function build() {
    const own = make('div', { class: 'start' },
      make('h1', {}, 'Watch a repository'),
      make('p', {}, 'See its files, the agents that work on them, and who is blocked, live.'));
    view = own;
    element.append(own);
    const served = (await servedRepositories()) ?? [];
    if (view !== own) return;
    const isServed = (/** @type {import('./recents.js').Recent} */ recent) =>
      served.some((place) => place.repoUrl === recent.repoUrl && place.branch === recent.branch);
    const recents = readRecents().filter((recent) => !isServed(recent));
    const parts = [
      placeList(model, 'Served here', served, () => {}, false, describe),
      placeList(model, 'Opened last', recents, () => {}, false, describe),
      placeForm(model, () => {}),
    ];
    own.append(...parts.filter((part) => part !== null));
    read();
  }

  return {
    update() {
      const isWanted = model.state.place.repoUrl === null;
      document.body.toggleAttribute('data-start', isWanted);
      if (isWanted && !view) build();
      else if (!isWanted && view) {
        view.remove();
        view = null;
        lines = new Map();
        window.clearTimeout(timer);
      }
    },
  };
}
