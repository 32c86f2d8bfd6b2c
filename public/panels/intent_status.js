// The status of an intent as a label. Its icon identifies it without its color.

import { icon, make, setAttribute, setIcon, setText } from '../app/dom.js';
import { STATUS_WORDS } from '../app/intent_words.js';

/** @typedef {import('../app/types.js').IntentStatus} IntentStatus */

/** @type {Record<IntentStatus, string>} */
const ICONS = { PENDING: 'clock', IN_PROGRESS: 'play', BLOCKED: 'warning', COMPLETED: 'check', ABANDONED: 'close' };

export function intentStatus() {
  const mark = icon('clock');
  const text = make('span', {});
  const node = make('span', { class: 'intent-status' }, mark, text);
  return {
    node,
    /** @param {IntentStatus} status */
    update(status) {
      setAttribute(node, 'data-status', status);
      setIcon(mark, ICONS[status] ?? 'help');
      setText(text, STATUS_WORDS[status] ?? status);
    },
  };
}
