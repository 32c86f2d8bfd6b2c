// The spending of a budget as words, and as a bar if the budget has a limit.

import { make, setAttribute, setText } from '../app/dom.js';
import { budgetWords } from '../app/intent_words.js';

/** @param {string} name */
export function intentBudget(name) {
  const text = make('span', {});
  const fill = make('span', {});
  const bar = make('span', { class: 'budget-bar', role: 'meter', 'aria-label': name, 'aria-valuemin': '0' }, fill);
  const node = make('div', { class: 'budget' }, make('span', { class: 'soft' }, name), text, bar);
  return {
    node,
    /** @param {import('../app/types.js').Spending | null} spending */
    update(spending) {
      node.hidden = spending === null;
      if (!spending) return;
      const words = budgetWords(spending);
      setText(text, words.text);
      setAttribute(node, 'data-level', words.level);
      bar.hidden = words.share === null;
      if (words.share === null || spending.most === null) return;
      setAttribute(bar, 'aria-valuemax', String(spending.most));
      setAttribute(bar, 'aria-valuenow', String(Math.min(spending.used, spending.most)));
      setAttribute(bar, 'aria-valuetext', words.text);
      fill.style.transform = `scaleX(${words.share.toFixed(3)})`;
    },
  };
}
