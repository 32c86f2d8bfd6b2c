// The view of a page without a repository: all known repositories, and the work in each.

import { describeEvent } from '../panels/feed.js';
import { makeElement, setText } from './dom.js';
import { formatCount } from './formatting.js';
import { nameOf } from './holder.js';
import { servedRepositories } from './local_server.js';
import { readRecents } from './recents.js';
import { repositoryForm, repositoryList } from './repository_form.js';
import { ago } from './time.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./recents.js').Recent} Recent */

/** Interval between two reads of all overviews. */
const INTERVAL_MS = 15_000;
/** Maximum number of repositories whose overview the page reads. */
const MAX_OVERVIEWS = 30;

/** @param {import('./overview.js').Overview} overview @param {number} now */
function overviewSentence({ agents, locked, blocked, last }, now) {
  const lastHolder = last?.holder ? `${nameOf({ hasSeveralLogins: false }, last.holder)} ` : '';
  const parts = [
    ...(agents === 0
      ? ['nobody at work']
      : [formatCount(agents, 'agent'), `${locked} locked`, blocked > 0 ? `${blocked} blocked` : '']),
    last ? `${lastHolder}${describeEvent(last)}, ${ago(now - last.at)}` : '',
  ];
  return parts.filter(Boolean).join(' \u00b7 ');
}

/**
 * @param {HTMLElement} element The parent of the view.
 * @param {Model} model
 * @returns {{ update: () => void }}
 */
export function mountStart(element, model) {
  /** @type {HTMLElement | null} */
  let view = null;
  /** The elements of the overview of each repository, by its URL. @type {Map<string, HTMLElement[]>} */
  let overviewNodes = new Map();
  let timer = 0;

  /** @param {Recent} place */
  function describe({ repoUrl }) {
    const node = makeElement('span', { class: 'place-overview' });
    overviewNodes.set(repoUrl, [...(overviewNodes.get(repoUrl) ?? []), node]);
    return node;
  }

  /** Reads one repository after the other, to spare the server. */
  async function readOverviews() {
    const currentView = view;
    for (const [repoUrl, nodes] of [...overviewNodes].slice(0, MAX_OVERVIEWS)) {
      if (view !== currentView || document.visibilityState !== 'visible') break;
      let text = '';
      try {
        text = overviewSentence(await model.overview(repoUrl), model.now());
      } catch {
        // The page reports the problem when the user opens the repository.
      }
      for (const node of nodes) setText(node, text);
    }
    if (view === currentView && currentView) timer = window.setTimeout(readOverviews, INTERVAL_MS);
  }

  async function build() {
    const newView = makeElement('div', { class: 'start' },
      makeElement('h1', {}, 'Watch a repository'),
      makeElement('p', {}, 'See its files, the agents that work on them, and who is blocked, live.'));
    view = newView;
    element.append(newView);
    const served = (await servedRepositories()) ?? [];
    if (view !== newView) return;
    const isServed = (/** @type {Recent} */ recent) =>
      served.some((place) => place.repoUrl === recent.repoUrl && place.branch === recent.branch);
    const recents = readRecents().filter((recent) => !isServed(recent));
    const parts = [
      repositoryList(model, 'Served here', served, () => {}, false, describe),
      repositoryList(model, 'Recently opened', recents, () => {}, false, describe),
      repositoryForm(model, () => {}),
    ];
    newView.append(...parts.filter((part) => part !== null));
    readOverviews();
  }

  return {
    update() {
      const isWanted = model.state.place.repoUrl === null;
      document.body.toggleAttribute('data-start', isWanted);
      if (isWanted && !view) build();
      else if (!isWanted && view) {
        view.remove();
        view = null;
        overviewNodes = new Map();
        window.clearTimeout(timer);
      }
    },
  };
}
