// The panel of the ledger. The page reads the ledger only while the panel is on the screen.

import { icon, keyedChildren, makeButton, makeElement, setText } from '../app/dom.js';
import { formatCount } from '../app/formatting.js';
import { sortIntents } from '../app/intents.js';
import { copyButton } from './copy_button.js';
import { panelHead, pathText } from './elements.js';
import { fold } from './fold.js';
import { shortHash } from './ledger_labels.js';
import { ledgerRow } from './ledger_row.js';
import { olderRows } from './older_rows.js';
import { signInPrompt } from './sign_in_prompt.js';

/** @import { Intent, LedgerFilter, LedgerLine, LedgerPoint, Model } from '../app/types.js' */

const SIGN_IN_TEXT = 'The ledger needs signing in: it is shown to those who may read the repository.';
const SEAL_TEXT = 'Count and hash of the last line. Store it elsewhere to detect later whether lines were changed, '
  + 'removed or rewritten.';

/** @param {HTMLElement} element @param {Model} model @param {{ signIn: () => void }} actions */
export function mountLedger(element, model, { signIn }) {
  const signInNote = signInPrompt(SIGN_IN_TEXT, signIn);
  const seal = ledgerSeal();
  const filter = ledgerFilter(model);
  const list = makeElement('ol');
  const older = olderRows({
    list, label: 'Ledger, the newest first', rows: 'lines', subject: 'The ledger',
    load: () => model.loadOlderLines(), render,
  });
  element.classList.add('panel', 'activity');
  element.append(panelHead(['Ledger']), signInNote.node, seal.node, filter.node, older.frame);
  const keyOf = (/** @type {LedgerLine} */ { seq }) => String(seq);
  const renderRows = keyedChildren(list, keyOf, (line) => ledgerRow(model, line));

  function render() {
    const { ledger, intents } = model.state;
    const isOpen = intents.phase === 'shown';
    signInNote.update(intents.phase === 'sign_in' ? intents.message : null);
    filter.node.hidden = older.frame.hidden = !isOpen;
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
  const code = makeElement('code');
  const content = makeElement('div', {}, makeElement('p', {}, code), makeElement('p', { class: 'soft' }, SEAL_TEXT));
  const details = fold('seal', content, () => setText(code, sealed?.text ?? ''));
  const base = makeElement('p', { class: 'seal-base soft' });
  const head = makeElement('div', { class: 'seal-head' }, details.node, copy.status, copy.button);
  const node = makeElement('div', { class: 'ledger-seal' }, head, base);
  return {
    node,
    /** @param {LedgerPoint | null} seal @param {LedgerPoint | null} basePoint */
    update(seal, basePoint) {
      sealed = seal;
      node.hidden = seal === null;
      details.update(seal ? `Sealed: ${formatCount(seal.count, 'line')}, ${shortHash(seal.hash)}` : '');
      base.hidden = !basePoint || basePoint.count === 0;
      base.title = basePoint?.text ?? '';
      const firstLine = ((basePoint?.count ?? 0) + 1).toLocaleString('en-US');
      setText(base, basePoint ? `Kept from line ${firstLine} on, after ${shortHash(basePoint.hash)}.` : '');
    },
  };
}

/** The choice of the lines: those of an intent, those of a file, or all. @param {Model} model */
function ledgerFilter(model) {
  const options = makeElement('optgroup', { label: 'Intents' });
  const select = makeElement('select', {
    'aria-label': 'Intent of the lines', onchange: () => change({ intent: select.value || null }),
  }, makeElement('option', { value: '' }, 'All intents'), options);
  const file = makeButton({ class: 'filter-file', onclick: () => change({ file: null }) });
  const node = makeElement('div', { class: 'feed-filter ledger-filter' }, select, file);
  let shownFile = '';
  const renderOptions = keyedChildren(options, (/** @type {Intent} */ { id }) => id, ({ id }) => {
    const option = makeElement('option', { value: id });
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
      const { active, ended } = sortIntents(intents.list);
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
