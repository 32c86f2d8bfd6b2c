// The panel of the ledger. The page reads the ledger only while the panel is on the screen.

import { keyedChildren, make, setText } from '../app/dom.js';
import { ledgerFilter } from './ledger_filter.js';
import { ledgerRow } from './ledger_row.js';
import { ledgerSeal } from './ledger_seal.js';
import { needsSignIn } from './needs_sign_in.js';
import { olderRows } from './older.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').LedgerLine} LedgerLine */

const SIGN_IN_TEXT = 'The ledger needs signing in: it is shown to those who may read the repository.';

/**
 * @param {HTMLElement} element
 * @param {Model} model
 * @param {{ signIn: () => void }} actions
 */
export function mountLedger(element, model, { signIn }) {
  const signInNote = needsSignIn(SIGN_IN_TEXT, signIn);
  const seal = ledgerSeal();
  const filter = ledgerFilter(model);
  const list = make('ol', { class: 'feed-list' });
  const older = olderRows({ rows: 'lines', subject: 'The ledger', load: () => model.lengthenLedger(), render });
  const scroller = make('div', {
    class: 'feed-scroller', tabindex: '0', role: 'region', 'aria-label': 'Ledger, the newest first',
  }, list, older.button, older.end);
  const frame = make('div', { class: 'feed-frame' }, scroller);
  element.classList.add('panel', 'activity', 'ledger');
  element.append(
    make('div', { class: 'panel-head' }, make('h2', { class: 'panel-title' }, 'Ledger')),
    signInNote.node, seal.node, filter.node, frame);
  const keyOf = (/** @type {LedgerLine} */ { seq }) => String(seq);
  const renderRows = keyedChildren(list, keyOf, (line) => ledgerRow(model, line));

  function render() {
    const { ledger, intents } = model.state;
    const isOpen = intents.phase === 'shown';
    signInNote.update(intents.phase === 'sign_in' ? intents.message : null);
    filter.node.hidden = frame.hidden = !isOpen;
    seal.update(isOpen ? ledger.sealed : null, ledger.base);
    filter.update();
    renderRows(isOpen ? ledger.lines : []);
    older.button.hidden = !ledger.hasOlder;
    const isEmpty = ledger.sealed !== null && ledger.lines.length === 0;
    setText(older.button, isEmpty ? 'Look further back' : 'Load older');
    older.setEndText(endText());
  }

  /** @returns {string} */
  function endText() {
    const { message, sealed, base, lines, oldest, hasOlder, filter: { intent, file } } = model.state.ledger;
    if (message) return `The ledger cannot be read: ${message}`;
    if (sealed === null) return 'Reading the ledger';
    if (lines.length > 0) {
      if (hasOlder) return '';
      const isCut = oldest > (base?.count ?? 0);
      return isCut ? 'The page shows no more lines at once. Filter by intent or file.' : 'Nothing older to show.';
    }
    if (!intent && !file) return 'Nothing has been recorded yet.';
    return hasOlder ? 'None of the newest lines match.' : 'No line matches.';
  }

  const observer = new IntersectionObserver((entries) =>
    model.followLedger(entries[entries.length - 1].isIntersecting));
  observer.observe(element);
  model.subscribe((changed) => {
    if (changed.has('ledger')) older.clearProblem();
    if (changed.has('ledger') || changed.has('intents')) render();
  });
  render();
}
