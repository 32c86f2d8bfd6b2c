// The tasks that block the most others.

import { keyedChildren, makeElement, setAttribute, setText } from '../app/dom.js';
import { topBlockers } from '../app/task_graph.js';
import { isHeld } from '../app/tasks.js';
import { ownerLabel } from '../app/team_labels.js';
import { memberBadge, taskButton } from './elements.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {{ task: import('../app/team_types.js').Task, count: number }} Blocker */

const MAX_BLOCKERS = 3;

/** @param {Model} model */
export function boardBlockers(model) {
  const list = makeElement('ol', { class: 'blocker-list' });
  const node = makeElement('div', { class: 'blockers' }, makeElement('h2', {}, 'Top blockers'), list);
  const render = keyedChildren(list, (/** @type {Blocker} */ { task }) => task.id, ({ task }) => {
    const button = taskButton(model, task.id);
    const count = makeElement('strong', { class: 'blocker-count' });
    const mark = memberBadge(model);
    const owner = makeElement('span', { class: 'blocker-owner' });
    let shownName = '';
    return {
      node: makeElement('li', {}, count, button.node, owner),
      update(/** @type {Blocker} */ next) {
        button.update(next.task);
        setText(count, next.count.toLocaleString('en-US'));
        setAttribute(count, 'title', `${next.count} wait for it, directly or indirectly`);
        const name = ownerLabel(next.task);
        if (isHeld(next.task)) mark.update(name);
        if (name === shownName) return;
        shownName = name;
        owner.classList.toggle('is-nobody', !isHeld(next.task));
        const handle = makeElement('span', { class: 'handle' }, name);
        owner.replaceChildren(...(isHeld(next.task) ? [mark.node, handle] : [name]));
      },
    };
  });
  /** The tasks from which `blockers` was computed. @type {unknown} */
  let computedFrom = null;
  /** @type {Blocker[]} */
  let blockers = [];
  return {
    node,
    update() {
      const { tasks } = model.state.board;
      if (computedFrom !== tasks) blockers = topBlockers(tasks, MAX_BLOCKERS);
      computedFrom = tasks;
      node.hidden = blockers.length === 0;
      render(blockers);
    },
  };
}
