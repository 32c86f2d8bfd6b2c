// A column of the board: its first cards, and more of them on demand.

import { icon, keyedChildren, make, setText } from '../app/dom.js';
import { COLUMN_WORDS } from '../app/team_words.js';
import { counted } from '../app/words.js';
import { taskCard } from './task_card.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').Task} Task */
/** @typedef {import('../app/team_types.js').Column} Column */

const FIRST = 50;
const MORE = 200;

/** @param {Model} model @param {Column} column */
export function boardColumn(model, column) {
  const words = COLUMN_WORDS[column];
  let most = FIRST;
  /** @type {Task[]} */
  let tasks = [];
  /** The card at which the tab key stops. */
  let stop = '';
  /** @type {Map<string, ReturnType<typeof taskCard>>} */
  const cards = new Map();
  const count = make('span', { class: 'count' });
  const list = make('ul', { class: 'card-list' });
  const empty = make('p', { class: 'soft column-empty' });
  const more = make('button', { type: 'button', class: 'quiet', onclick: showMore });
  const scroller = make('div', { class: 'column-scroller' }, list, empty, more);
  const node = make('section', { class: 'column', 'data-column': column, 'aria-label': words.title },
    make('h2', { class: 'column-head' }, icon(words.icon), words.title, count), scroller);
  const render = keyedChildren(list, (/** @type {Task} */ { id }) => id, (task) => {
    const card = taskCard(model, task);
    cards.set(task.id, card);
    return { node: card.node, update: (next) => card.update(next, next.id === stop) };
  });
  node.addEventListener('focusin', (event) => {
    const id = /** @type {HTMLElement} */ (event.target).dataset.task;
    if (id && id !== stop) {
      stop = id;
      draw();
    }
  });

  function showMore() {
    const first = most;
    most += MORE;
    draw();
    /** @type {HTMLElement | null | undefined} */ (list.children[first]?.querySelector('button'))?.focus();
  }

  function draw() {
    const shown = tasks.slice(0, most);
    // Unless somebody is in the column, the tab key comes to its first card.
    if (!node.contains(document.activeElement) || !shown.some(({ id }) => id === stop)) stop = shown[0]?.id ?? '';
    render(shown);
    if (cards.size > shown.length) {
      const ids = new Set(shown.map(({ id }) => id));
      for (const id of cards.keys()) if (!ids.has(id)) cards.delete(id);
    }
    const rest = tasks.length - most;
    more.hidden = rest <= 0;
    setText(more, `Show ${rest > MORE ? `${MORE} more of ${counted(tasks.length, 'task')}` : `all ${counted(tasks.length, 'task')}`}`);
  }

  return {
    node,
    /**
     * @param {Task[]} next
     * @param {{ total: number | null, isFiltered: boolean, isReading: boolean }} of `total`: how many there are, where not all are known.
     */
    update(next, { total, isFiltered, isReading }) {
      tasks = next;
      setText(count, (total ?? tasks.length).toLocaleString('en-US'));
      empty.hidden = tasks.length > 0;
      setText(empty, isReading ? 'Reading' : isFiltered ? 'No task matches the search.' : words.empty);
      draw();
    },
    /** @param {Node} extra Under the cards. */
    append: (extra) => scroller.append(extra),
    reset() {
      most = FIRST;
      scroller.scrollTop = 0;
    },
    /** @param {number} now */
    tick(now) {
      for (const card of cards.values()) card.tick(now);
    },
    /** @returns {HTMLElement[]} */
    buttons: () => [...list.querySelectorAll('button')],
    /** Brings a task into view. @param {string} id */
    reveal(id) {
      const place = tasks.findIndex((task) => task.id === id);
      if (place < 0) return;
      if (place >= most) {
        most = place + 1;
        draw();
      }
      cards.get(id)?.node.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    },
  };
}
