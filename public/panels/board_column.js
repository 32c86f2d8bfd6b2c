// A column of the board: its first cards, and more of them on demand.

import { icon, keyedChildren, makeButton, makeElement, setText } from '../app/dom.js';
import { formatCount } from '../app/formatting.js';
import { COLUMN_LABELS } from '../app/team_labels.js';
import { taskCard } from './task_card.js';

/** @import { Model } from '../app/types.js' */
/** @import { Column, Task } from '../app/team_types.js' */

const FIRST = 50;
const MORE = 200;

/** @param {Model} model @param {Column} column */
export function boardColumn(model, column) {
  const words = COLUMN_LABELS[column];
  let maxCards = FIRST;
  /** @type {Task[]} */
  let tasks = [];
  /** Id of the card that the tab key reaches. */
  let tabStop = '';
  const count = makeElement('span', { class: 'count' });
  const list = makeElement('ul', { class: 'card-list' });
  const empty = makeElement('p', { class: 'soft column-empty' });
  const more = makeButton({ class: 'quiet', onclick: showMore });
  const scroller = makeElement('div', { class: 'column-scroller' }, list, empty, more);
  const node = makeElement('section', { class: 'column', 'data-column': column, 'aria-label': words.title },
    makeElement('h2', { class: 'column-head' }, icon(words.icon), words.title, count), scroller);
  const renderCards = keyedChildren(list, (/** @type {Task} */ { id }) => id, (task) => {
    const { node: cardNode, update, tick } = taskCard(model, task);
    return { node: cardNode, tick, update: (/** @type {Task} */ next) => update(next, next.id === tabStop) };
  });
  let cards = renderCards([]);
  node.addEventListener('focusin', (event) => {
    const id = /** @type {HTMLElement} */ (event.target).dataset.task;
    if (id && id !== tabStop) {
      tabStop = id;
      render();
    }
  });

  function showMore() {
    const firstNew = maxCards;
    maxCards += MORE;
    render();
    /** @type {HTMLElement | null | undefined} */ (list.children[firstNew]?.querySelector('button'))?.focus();
  }

  function render() {
    const visibleTasks = tasks.slice(0, maxCards);
    // Unless the focus is in the column, the tab key reaches its first card.
    const isFocused = node.contains(document.activeElement) && visibleTasks.some(({ id }) => id === tabStop);
    if (!isFocused) tabStop = visibleTasks[0]?.id ?? '';
    cards = renderCards(visibleTasks);
    const hiddenCount = tasks.length - maxCards;
    const total = formatCount(tasks.length, 'task');
    more.hidden = hiddenCount <= 0;
    setText(more, hiddenCount > MORE ? `Show ${MORE} more of ${total}` : `Show all ${total}`);
  }

  return {
    node,
    /**
     * @param {Task[]} next
     * @param {{ total: number | null, isFiltered: boolean, isReading: boolean }} options `total`: the number of tasks,
     *   if the page has not read all of them.
     */
    update(next, { total, isFiltered, isReading }) {
      tasks = next;
      setText(count, (total ?? tasks.length).toLocaleString('en-US'));
      empty.hidden = tasks.length > 0;
      setText(empty, isReading ? 'Reading' : isFiltered ? 'No task matches the search.' : words.empty);
      render();
    },
    /** Adds an element below the cards. @param {Node} extra */
    append: (extra) => scroller.append(extra),
    reset() {
      maxCards = FIRST;
      scroller.scrollTop = 0;
    },
    /** @param {number} now */
    tick(now) {
      for (const card of cards.values()) card.tick(now);
    },
    /** @returns {HTMLElement[]} */
    buttons: () => [...list.querySelectorAll('button')],
    /** Scrolls a task into view. @param {string} id */
    reveal(id) {
      const index = tasks.findIndex((task) => task.id === id);
      if (index < 0) return;
      if (index >= maxCards) {
        maxCards = index + 1;
        render();
      }
      cards.get(id)?.node.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    },
  };
}
