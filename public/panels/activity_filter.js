// The filter of the feed: by agent, folder and kind.

import { makeElement } from '../app/dom.js';
import { nameOf } from '../app/holder.js';
import { foldersOf, KINDS } from './feed.js';

/** @typedef {import('../app/types.js').State} State */
/** @typedef {import('./feed.js').FeedFilter} FeedFilter */

const MAX_OPTIONS = 200;

/** @param {(filter: FeedFilter) => void} onChange */
export function activityFilter(onChange) {
  /** @type {FeedFilter} */
  const filter = { holder: '', folder: '', kind: '' };
  const holder = choice('Agent', 'All agents', 'holder');
  const folder = choice('Folder', 'All folders', 'folder');
  const kind = choice('Kind', 'All kinds', 'kind');
  kind.setOptions([...KINDS].map(([value, { label }]) => [value, label]));

  /** @param {string} name @param {string} allLabel @param {keyof FeedFilter} field */
  function choice(name, allLabel, field) {
    let shownOptions = '';
    const node = makeElement('select', {
      'aria-label': name,
      onchange() {
        filter[field] = node.value;
        node.classList.toggle('is-set', node.value !== '');
        onChange({ ...filter });
      },
    }, makeElement('option', { value: '' }, allLabel));
    return {
      node,
      /** The selected value stays an option. @param {[string, string][]} options */
      setOptions(options) {
        const selected = filter[field];
        const isListed = !selected || options.some(([value]) => value === selected);
        /** @type {[string, string][]} */
        const nextOptions = isListed ? options : [...options, [selected, selected]];
        const key = JSON.stringify(nextOptions);
        if (key === shownOptions && node.value === selected) return;
        shownOptions = key;
        const nodes = nextOptions.map(([value, label]) => makeElement('option', { value }, label));
        node.replaceChildren(/** @type {Node} */ (node.firstChild), ...nodes);
        node.value = selected;
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
    node: makeElement('div', { class: 'feed-filter', role: 'group', 'aria-label': 'Filter of the activity' },
      holder.node, folder.node, kind.node),
    /** @param {State} state */
    update(state) {
      const { activity, agents } = state;
      const holders = new Set(agents.map((agent) => agent.holder));
      for (const entry of activity) if (entry.holder && holders.size < MAX_OPTIONS) holders.add(entry.holder);
      holder.setOptions([...holders].sort().map((key) => [key, nameOf(state, key)]));
      folder.setOptions(foldersOf(activity, MAX_OPTIONS).map((path) => [path, path]));
    },
  };
}
