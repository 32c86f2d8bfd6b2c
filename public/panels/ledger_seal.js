// The seal of the ledger: the count and the hash of its lines, and the first line that the server still has.

import { make, setText } from '../app/dom.js';
import { counted } from '../app/words.js';
import { copyButton } from './copy_button.js';
import { fold } from './fold.js';
import { shortHash } from './ledger_words.js';

/** @typedef {import('../app/types.js').LedgerPoint} LedgerPoint */

const EXPLANATION = 'Count and hash of the last line. Store it elsewhere to detect later whether lines were changed, '
  + 'removed or rewritten.';

export function ledgerSeal() {
  /** @type {LedgerPoint | null} */
  let sealed = null;
  const copy = copyButton('Copy the seal', () => sealed?.text ?? '');
  const code = make('code', {});
  const content = make('div', {}, make('p', {}, code), make('p', { class: 'soft' }, EXPLANATION));
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
