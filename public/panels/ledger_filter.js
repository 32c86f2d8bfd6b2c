// The filter of the ledger: the lines of an intent, of a file, or all lines.

import { icon, keyedChildren, make, setText } from '../app/dom.js';
import { sortedIntents } from '../app/intents.js';
import { pathText } from './parts.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').Intent} Intent */

/** @param {Model} model */
export function ledgerFilter(model) {
  const options = make('optgroup', { label: 'Intents' });
  const select = /** @type {HTMLSelectElement} */ (make('select', {
    'aria-label': 'Intent of the lines', onchange: () => change({ intent: select.value || null }),
  }, make('option', { value: '' }, 'All intents'), options));
  const file = make('button', { type: 'button', class: 'filter-file', onclick: () => change({ file: null }) });
  const node = make('div', { class: 'feed-filter ledger-filter' }, select, file);
  let shownFile = '';
  const renderOptions = keyedChildren(options, (/** @type {Intent} */ { id }) => id, ({ id }) => {
    const option = make('option', { value: id });
    return { node: option, update: (/** @type {Intent} */ intent) => setText(option, intent.name || id) };
  });

  /** @param {Partial<import('../app/types.js').LedgerFilter>} fields */
  function change(fields) {
    model.filterLedger({ ...model.state.ledger.filter, ...fields });
  }

  return {
    node,
    update() {
      const { ledger: { filter }, intents } = model.state;
      const { active, ended } = sortedIntents(intents.list);
      renderOptions([...active, ...ended]);
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
