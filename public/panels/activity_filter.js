// The three choices over the feed: agent, folder, kind.

import { make } from '../app/dom.js';
import { nameOf } from '../app/names.js';
import { foldersOf, KINDS } from './feed.js';

/** @typedef {import('../app/types.js').State} State */
/** @typedef {import('./feed.js').FeedFilter} FeedFilter */

const MOST_OPTIONS = 200;

/** @param {(filter: FeedFilter) => void} onChange */
export function activityFilter(onChange) {
  /** @type {FeedFilter} */
  const filter = { holder: '', folder: '', kind: '' };
  const [holder, folder, kind] = [choice('Agent', 'All agents', 'holder'), choice('Folder', 'All folders', 'folder'), choice('Kind', 'All kinds', 'kind')];
  kind.offer([...KINDS].map(([value, { label }]) => [value, label]));

  /** @param {string} name @param {string} all @param {keyof FeedFilter} field */
  function choice(name, all, field) {
    let offered = '';
    const node = /** @type {HTMLSelectElement} */ (make('select', {
      'aria-label': name,
      onchange() {
        filter[field] = node.value;
        node.classList.toggle('is-set', node.value !== '');
        onChange({ ...filter });
      },
    }, make('option', { value: '' }, all)));
    return {
      node,
      /** What is chosen stays an option. @param {[string, string][]} options */
      offer(options) {
        const all = filter[field] && !options.some(([value]) => value === filter[field]) ? [...options, /** @type {[string, string]} */ ([filter[field], filter[field]])] : options;
        const key = JSON.stringify(all);
        if (key === offered && node.value === filter[field]) return;
        offered = key;
        node.replaceChildren(/** @type {Node} */ (node.firstChild), ...all.map(([value, label]) => make('option', { value }, label)));
        node.value = filter[field];
      },
    };
  }

  return {
    /** @param {string} key Of a holder; empty for all. */
    chooseHolder(key) {
      if (filter.holder === key) return;
      filter.holder = key;
      holder.node.classList.toggle('is-set', key !== '');
      onChange({ ...filter });
    },
    node: make('div', { class: 'feed-filter', role: 'group', 'aria-label': 'Filter of the activity' }, holder.node, folder.node, kind.node),
    /** @param {State} state */
    update(state) {
      const { activity, agents } = state;
      const holders = new Set(agents.map((agent) => agent.holder));
      for (const entry of activity) if (entry.holder && holders.size < MOST_OPTIONS) holders.add(entry.holder);
      holder.offer([...holders].sort().map((each) => [each, nameOf(state, each)]));
      folder.offer(foldersOf(activity, MOST_OPTIONS).map((each) => [each, each]));
    },
  };
}
