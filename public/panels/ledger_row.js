// One line of the ledger.

import { icon, make } from '../app/dom.js';
import { fold } from './fold.js';
import { actorOf, lineDeed, lineOutcome } from './ledger_words.js';
import { badge, fileButton, intentButton, moment } from './parts.js';

/** @import { LedgerLine, Model } from '../app/types.js' */

const FILES_SHOWN = 3;
/** @type {Record<string, string>} */
const ICONS = { SUCCESS: 'check', FAILURE: 'close', DENIED: 'warning' };

/**
 * @param {Model} model
 * @param {LedgerLine} line Never changes.
 */
export function ledgerRow(model, line) {
  const { user, agentId } = actorOf(line.holder);
  const at = moment();
  const intent = line.intentId === null ? null : filterButton(model, line.intentId);
  const files = line.files.slice(0, FILES_SHOWN).map((path) => fileButton(model, path));
  const more = line.files.length - files.length;
  const text = make('code', {});
  const unparsed = fold('line-whole', text, () => (text.textContent = line.text));
  unparsed.update(`Line ${line.seq.toLocaleString('en-US')}`);
  const status = make('span', { class: 'outcome' }, icon(ICONS[line.status] ?? 'help'), line.status);
  const node = make('li', { class: 'entry line', 'data-status': line.status, 'data-seq': line.seq },
    badge(line.holder, agentId, user),
    make('div', { class: 'entry-text' },
      make('div', { class: 'entry-head' },
        make('span', { class: 'entry-deed' }, make('strong', {}, line.holder), ' ', lineDeed(line)), at.node),
      make('p', { class: 'line-outcome' }, status, ' ', lineOutcome(line)),
      line.reasoning ? make('p', { class: 'entry-message' }, line.reasoning) : null,
      intent ? make('p', { class: 'intent-line soft' }, 'Intent:', intent.node) : null,
      files.length > 0
        ? make('div', { class: 'entry-files' },
          ...files.map(({ node: button }) => button),
          more > 0 ? make('span', { class: 'soft' }, `and ${more} more`) : null)
        : null,
      unparsed.node));
  // The buttons show no lock: a row about the past must not show what is locked now.
  for (const button of files) button.update(null);
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
  const act = () => model.filterLedger({ intent, file: null });
  return intentButton(model, intent, { act, title: 'Show only the lines of the intent' });
}
