// The panel of the ledger. The page reads the ledger only while the panel is on the screen.

import { icon, keyedChildren, make, setText } from '../app/dom.js';
import { sortedIntents } from '../app/intents.js';
import { counted } from '../app/words.js';
import { copyButton } from './copy_button.js';
import { fold } from './fold.js';
import { ledgerRow } from './ledger_row.js';
import { shortHash } from './ledger_words.js';
import { needsSignIn } from './needs_sign_in.js';
import { olderRows } from './older.js';
import { pathText } from './parts.js';

/** @import { Intent, LedgerFilter, LedgerLine, LedgerPoint, Model } from '../app/types.js' */

const SIGN_IN_TEXT = 'The ledger needs signing in: it is shown to those who may read the repository.';
const SEAL_TEXT = 'Count and hash of the last line. Store it elsewhere to detect later whether lines were changed, '
  + 'removed or rewritten.';

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

/** The count and the hash of the lines, and the first line that the server still has. */
function ledgerSeal() {
  /** @type {LedgerPoint | null} */
  let sealed = null;
  const copy = copyButton('Copy the seal', () => sealed?.text ?? '');
  const code = make('code', {});
  const content = make('div', {}, make('p', {}, code), make('p', { class: 'soft' }, SEAL_TEXT));
  const details = fold('seal', content, () => setText(code, sealed?.text ?? ''));
  const base = make('p', { class: 'seal-base soft' });
  const head = make('div', { class: 'seal-head' }, details.node, copy.status, copy.button);
  const node = make('div', { class: 'ledger-seal' }, head, base);
  return {
    node,
    /** @param {LedgerPoint | null} seal @param {LedgerPoint | null} basePoint */
    update(seal, basePoint) {
      sealed = seal;
      node.hidden = seal === null;
      details.update(seal ? `Sealed: ${counted(seal.count, 'line')}, ${shortHash(seal.hash)}` : '');
      base.hidden = !basePoint || basePoint.count === 0;
      base.title = basePoint?.text ?? '';
      const firstLine = ((basePoint?.count ?? 0) + 1).toLocaleString('en-US');
      setText(base, basePoint ? `Kept from line ${firstLine} on, after ${shortHash(basePoint.hash)}.` : '');
    },
  };
}

/** The choice of the lines: those of an intent, those of a file, or all. @param {Model} model */
function ledgerFilter(model) {
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

  /** @param {Partial<LedgerFilter>} fields */
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
