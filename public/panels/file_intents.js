// The intents that own the selected file, and the way to its lines in the ledger.

import { keyedChildren, make } from '../app/dom.js';
import { intentButton } from './intent_button.js';

/** @typedef {import('../app/types.js').Model} Model */

/** @param {Model} model */
export function fileIntents(model) {
  let path = '';
  const list = make('ul', {});
  const none = make('p', { class: 'soft' }, 'No active intent owns it.');
  const ledger = make('button', { type: 'button', class: 'quiet', onclick: showLines }, 'In the ledger');
  const node = make('section', { class: 'file-section' }, make('h3', {}, 'Intent'), list, none, ledger);
  const render = keyedChildren(list, (/** @type {string} */ id) => id, (id) => {
    const button = intentButton(model, id);
    return { node: make('li', { class: 'intent-line' }, 'Owned by', button.node), update: button.update };
  });

  /** The ledger is behind the details. */
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
      none.hidden = owners.length > 0;
    },
  };
}
