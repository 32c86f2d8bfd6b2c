// Which lines of the ledger are shown: those of an intent, of a file, or all.

import { icon, keyedChildren, make, setText } from '../app/dom.js';
import { sortedIntents } from '../app/intents.js';
import { pathText } from './parts.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').Intent} Intent */

/** @param {Model} model */
export function ledgerFilter(model) {
  const choices = make('optgroup', { label: 'Intents' });
  const select = /** @type {HTMLSelectElement} */ (make('select', { 'aria-label': 'Intent of the lines', onchange: choose }, make('option', { value: '' }, 'All intents'), choices));
  const file = make('button', { type: 'button', class: 'filter-file', onclick: () => model.filterLedger({ ...model.state.ledger.filter, file: null }) });
  const node = make('div', { class: 'feed-filter ledger-filter' }, select, file);
  let shownFile = '';
  const renderChoices = keyedChildren(choices, (/** @type {Intent} */ { id }) => id, ({ id }) => {
    const option = make('option', { value: id });
    return { node: option, update: (/** @type {Intent} */ intent) => setText(option, intent.name || id) };
  });

  function choose() {
    model.filterLedger({ ...model.state.ledger.filter, intent: select.value || null });
  }

  return {
    node,
    update() {
      const { ledger: { filter }, intents } = model.state;
      const { active, ended } = sortedIntents(intents.list);
      renderChoices([...active, ...ended]);
      select.value = filter.intent ?? '';
      select.classList.toggle('is-set', filter.intent !== null);
      file.hidden = filter.file === null;
      if (shownFile === (filter.file ?? '')) return;
      shownFile = filter.file ?? '';
      file.replaceChildren(pathText(shownFile), icon('close'));
      file.title = `Only the lines of ${shownFile}: show those of all files`;
      file.setAttribute('aria-label', `Only the lines of ${shownFile}. Show those of all files`);
    },
  };
}
