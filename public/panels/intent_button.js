// The name of an intent as a button.

import { make, setAttribute, setText } from '../app/dom.js';
import { intentName } from '../app/intents.js';

/** @typedef {import('../app/types.js').Model} Model */

/**
 * @param {Model} model
 * @param {string} id
 * @param {{ act?: () => void, title?: string }} [options] By default it selects the intent.
 */
export function intentButton(model, id, { act = () => model.go({ intent: id }), title = 'Select the intent' } = {}) {
  const node = make('button', { type: 'button', class: 'quiet intent-button', onclick: act });
  return {
    node,
    update() {
      const name = intentName(model.state.intents, id);
      setText(node, name);
      setAttribute(node, 'title', name === id ? title : `${title} ${id}`);
    },
  };
}
