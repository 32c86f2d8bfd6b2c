// What was written down for an intent: why, how far, by which rules.

import { make } from '../app/dom.js';

/** @typedef {import('../app/types.js').Intent} Intent */

export function intentFacts() {
  const node = make('div', { class: 'intent-facts' });
  let shown = '';

  /** @param {string} title @param {string[]} items @param {'code' | 'span'} tag */
  function part(title, items, tag) {
    return items.length > 0 ? [make('h3', {}, title), make('ul', {}, ...items.map((item) => make('li', {}, make(tag, {}, item))))] : [];
  }

  return {
    node,
    /** @param {Intent} intent */
    update({ description, scope, constraints, mayOverlap }) {
      const next = JSON.stringify([description, scope, constraints, mayOverlap]);
      if (next === shown) return;
      shown = next;
      node.replaceChildren(
        ...(description ? [make('p', {}, description)] : []),
        ...part('May change', scope, 'code'), ...part('Rules', constraints, 'span'), ...part('May overlap with', mayOverlap, 'code'));
    },
  };
}
