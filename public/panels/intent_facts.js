// The description of an intent, its scope and its rules.

import { make } from '../app/dom.js';

/** @typedef {import('../app/types.js').Intent} Intent */

export function intentFacts() {
  const node = make('div', { class: 'intent-facts' });
  let shownFacts = '';

  /** @param {string} title @param {string[]} items @param {'code' | 'span'} tag */
  function section(title, items, tag) {
    if (items.length === 0) return [];
    return [make('h3', {}, title), make('ul', {}, ...items.map((item) => make('li', {}, make(tag, {}, item))))];
  }

  return {
    node,
    /** @param {Intent} intent */
    update({ description, scope, constraints, mayOverlap }) {
      const facts = JSON.stringify([description, scope, constraints, mayOverlap]);
      if (facts === shownFacts) return;
      shownFacts = facts;
      node.replaceChildren(
        ...(description ? [make('p', {}, description)] : []),
        ...section('May change', scope, 'code'),
        ...section('Rules', constraints, 'span'),
        ...section('May overlap with', mayOverlap, 'code'));
    },
  };
}
