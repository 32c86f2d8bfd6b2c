// The intents that own the selected file, and a button for its lines in the ledger.

import { keyedChildren, make } from '../app/dom.js';
import { intentButton } from './parts.js';

/** @param {import('../app/types.js').Model} model */
export function fileIntents(model) {
  let path = '';
  const list = make('ul', {});
  const empty = make('p', { class: 'soft' }, 'No active intent owns this file.');
  const ledger = make('button', { type: 'button', class: 'quiet', onclick: showLines }, 'In the ledger');
  const node = make('section', { class: 'file-section' }, make('h3', {}, 'Intent'), list, empty, ledger);
  const render = keyedChildren(list, (/** @type {string} */ id) => id, (id) => {
    const button = intentButton(model, id);
    return { node: make('li', { class: 'intent-line' }, 'Owned by', button.node), update: button.update };
  });

  /** Closes the details, which cover the ledger. */
  function showLines() {
    model.filterLedger({ intent: null, file: path });
    model.go({ file: null });
  }

  return {
    node,
    /** @param {string} next */
    update(next) {
      path = next;
      const { intents } = model.state;
      const owners = intents.owners.get(path) ?? [];
      node.hidden = intents.phase !== 'shown';
      render(owners);
      empty.hidden = owners.length > 0;
    },
  };
}
