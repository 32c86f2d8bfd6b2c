// The panel of the ledger: what was done, under which intent, and what came of it. It is read only while it is on the screen.

import { keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { ledgerFilter } from './ledger_filter.js';
import { ledgerRow } from './ledger_row.js';
import { ledgerSeal } from './ledger_seal.js';
import { needsSignIn } from './needs_sign_in.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').LedgerLine} LedgerLine */

/**
 * @param {HTMLElement} element
 * @param {Model} model
 * @param {{ signIn: () => void }} actions
 */
export function mountLedger(element, model, { signIn }) {
  let isLoading = false;
  let problem = '';
  const locked = needsSignIn('The ledger needs signing in: it is shown to those who may read the repository.', signIn);
  const seal = ledgerSeal();
  const filter = ledgerFilter(model);
  const list = make('ol', { class: 'feed-list' });
  const older = make('button', { type: 'button', class: 'quiet feed-older', onclick: lengthen });
  const end = make('p', { class: 'feed-end soft', role: 'status' });
  const scroller = make('div', { class: 'feed-scroller', tabindex: '0', role: 'region', 'aria-label': 'Ledger, the newest first' }, list, older, end);
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
    older.hidden = !ledger.hasOlder;
    const isEmpty = ledger.sealed !== null && ledger.lines.length === 0;
    setText(older, isEmpty ? 'Look further back' : 'Load older');
    if (isLoading) setText(end, 'Loading older lines');
    else setText(end, problem || endOf());
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

  async function lengthen() {
    if (isLoading) return;
    isLoading = true;
    problem = '';
    setAttribute(older, 'aria-busy', 'true');
    render();
    try {
      await model.lengthenLedger();
    } catch (error) {
      problem = `The ledger cannot be read: ${error instanceof Error ? error.message : error} Try again.`;
    }
    isLoading = false;
    setAttribute(older, 'aria-busy', null);
    render();
  }

  const observer = new IntersectionObserver((entries) => model.followLedger(entries[entries.length - 1].isIntersecting));
  observer.observe(element);
  const unsubscribe = model.subscribe((changed) => {
    if (changed.has('ledger')) problem = '';
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
