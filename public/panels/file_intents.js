// The intents that own the selected file, and a button for its lines in the ledger.

import { keyedChildren, makeButton, makeElement } from '../app/dom.js';
import { detailSection, intentButton } from './elements.js';

/** @param {import('../app/types.js').Model} model */
export function fileIntents(model) {
  let path = '';
  const list = makeElement('ul');
  const empty = makeElement('p', { class: 'soft' }, 'No active intent owns this file.');
  const ledger = makeButton({ class: 'quiet', onclick: showLines }, 'In the ledger');
  const node = detailSection('Intent', list, empty, ledger);
  const render = keyedChildren(list, (/** @type {string} */ id) => id, (id) => {
    const button = intentButton(model, id);
    return { node: makeElement('li', { class: 'intent-line' }, 'Owned by', button.node), update: button.update };
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
