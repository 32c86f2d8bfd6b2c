// One line of the ledger.

import { icon, makeElement } from '../app/dom.js';
import { splitHolder } from '../app/holder.js';
import { badge, entryRow, fileButtons, intentButton, timeLabel } from './elements.js';
import { fold } from './fold.js';
import { describeLine, outcomeText } from './ledger_labels.js';

/** @import { LedgerLine, Model } from '../app/types.js' */

/** @type {Record<string, string>} */
const ICONS = { SUCCESS: 'check', FAILURE: 'close', DENIED: 'warning' };

/** @param {Model} model @param {LedgerLine} line Never changes. */
export function ledgerRow(model, line) {
  const { user, agentId } = splitHolder(line.holder);
  const at = timeLabel();
  const intent = line.intentId === null ? null : filterButton(model, line.intentId);
  const files = line.files.length > 0 ? fileButtons(model, line.files, line.files.length) : null;
  const text = makeElement('code');
  const unparsed = fold('line-text', text, () => (text.textContent = line.text));
  unparsed.update(`Line ${line.seq.toLocaleString('en-US')}`);
  const status = makeElement('span', { class: 'outcome' }, icon(ICONS[line.status] ?? 'help'), line.status);
  const attributes = { class: 'entry line', 'data-status': line.status, 'data-seq': line.seq };
  const title = [makeElement('strong', {}, line.holder), ' ', describeLine(line)];
  const node = entryRow(attributes, badge(line.holder, agentId, user), title, [at.node],
    makeElement('p', { class: 'line-outcome' }, status, ' ', outcomeText(line)),
    line.reasoning ? makeElement('p', { class: 'entry-message' }, line.reasoning) : null,
    intent ? makeElement('p', { class: 'intent-line soft' }, 'Intent:', intent.node) : null,
    files?.node,
    unparsed.node);
  // The buttons show no lock: a row about the past must not show what is locked now.
  files?.update(() => null);
  return {
    node,
    update() {
      intent?.update();
      at.update(line.at, model.now(), true);
    },
  };
}

/** A button that filters the ledger by an intent. @param {Model} model @param {string} intent */
function filterButton(model, intent) {
  const onclick = () => model.filterLedger({ intent, file: null });
  return intentButton(model, intent, { onclick, title: 'Show only the lines of the intent' });
}
