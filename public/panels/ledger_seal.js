// The seal of the ledger: how many lines are sealed, the hash of the last one, and where the lines that are kept begin.

import { make, setText } from '../app/dom.js';
import { counted } from '../app/words.js';
import { copyButton } from './copy_button.js';
import { fold } from './fold.js';
import { shortHash } from './ledger_words.js';

/** @typedef {import('../app/types.js').LedgerPoint} LedgerPoint */

export function ledgerSeal() {
  /** @type {LedgerPoint | null} */
  let sealed = null;
  const copy = copyButton('Copy the seal', () => sealed?.text ?? '');
  const whole = make('code', {});
  const part = fold('seal', make('div', {},
    make('p', {}, whole),
    make('p', { class: 'soft' }, 'Count and hash of the last line. Kept elsewhere, it shows later whether lines were changed, removed or written anew.')),
  () => setText(whole, sealed?.text ?? ''));
  const base = make('p', { class: 'seal-base soft' });
  const node = make('div', { class: 'ledger-seal' }, make('div', { class: 'seal-head' }, part.node, copy.said, copy.button), base);
  return {
    node,
    /** @param {LedgerPoint | null} next @param {LedgerPoint | null} first */
    update(next, first) {
      sealed = next;
      node.hidden = next === null;
      part.update(next ? `Sealed: ${counted(next.count, 'line')}, ${shortHash(next.hash)}` : '');
      base.hidden = !first || first.count === 0;
      setText(base, first ? `Kept from line ${(first.count + 1).toLocaleString('en-US')} on, after ${shortHash(first.hash)}.` : '');
      base.title = first?.text ?? '';
    },
  };
}
