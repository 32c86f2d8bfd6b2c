// The panel of the ledger: what was done, under which intent, and what came of it. It is read only while it is on the screen.

import { keyedChildren, make, setText } from '../app/dom.js';
import { ledgerFilter } from './ledger_filter.js';
import { ledgerRow } from './ledger_row.js';
import { ledgerSeal } from './ledger_seal.js';
import { needsSignIn } from './needs_sign_in.js';
import { olderRows } from './older.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').LedgerLine} LedgerLine */

/**
 * @param {HTMLElement} element
 * @param {Model} model
 * @param {{ signIn: () => void }} actions
 */
export function mountLedger(element, model, { signIn }) {
  const locked = needsSignIn('The ledger needs signing in: it is shown to those who may read the repository.', signIn);
  const seal = ledgerSeal();
  const filter = ledgerFilter(model);
  const list = make('ol', { class: 'feed-list' });
  const older = olderRows({ rows: 'lines', whole: 'The ledger', load: () => model.lengthenLedger(), render });
  const scroller = make('div', { class: 'feed-scroller', tabindex: '0', role: 'region', 'aria-label': 'Ledger, the newest first' }, list, older.button, older.end);
  const frame = make('div', { class: 'feed-frame' }, scroller);
  element.classList.add('panel', 'activity', 'ledger');
  element.append(make('div', { class: 'panel-head' }, make('h2', { class: 'panel-title' }, 'Ledger')), locked.node, seal.node, filter.node, frame);
  const renderRows = keyedChildren(list, (/** @type {LedgerLine} */ { seq }) => String(seq), (line) => ledgerRow(model, line));

  function render() {
    const { ledger, intents } = model.state;
    const isOpen = intents.phase === 'shown';
    locked.update(intents.phase === 'sign_in' ? intents.message : null);
    filter.node.hidden = frame.hidden = !isOpen;
    seal.update(isOpen ? ledger.sealed : null, ledger.base);
    filter.update();
    renderRows(isOpen ? ledger.lines : []);
    older.button.hidden = !ledger.hasOlder;
    const isEmpty = ledger.sealed !== null && ledger.lines.length === 0;
    setText(older.button, isEmpty ? 'Look further back' : 'Load older');
    older.say(endOf());
  }

  /** @returns {string} */
  function endOf() {
    const { message, sealed, base, lines, oldest, hasOlder, filter: { intent, file } } = model.state.ledger;
    if (message) return `The ledger cannot be read: ${message}`;
    if (sealed === null) return 'Reading the ledger';
    if (lines.length > 0 && !hasOlder) return oldest > (base?.count ?? 0) ? 'No more lines are shown at once: choose an intent or a file.' : 'Nothing older to show.';
    if (lines.length > 0) return '';
    if (!intent && !file) return 'Nothing has been recorded yet.';
    return hasOlder ? 'None of the newest lines match.' : 'No line matches.';
  }

  const observer = new IntersectionObserver((entries) => model.followLedger(entries[entries.length - 1].isIntersecting));
  observer.observe(element);
  const unsubscribe = model.subscribe((changed) => {
    if (changed.has('ledger')) older.forget();
    if (changed.has('ledger') || changed.has('intents')) render();
  });
  render();
  return {
    destroy() {
      observer.disconnect();
      unsubscribe();
    },
  };
}
