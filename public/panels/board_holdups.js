// The tasks that block the most others.

import { keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { mostHoldingUp } from '../app/task_graph.js';
import { isHeld } from '../app/tasks.js';
import { moverOf } from '../app/team_words.js';
import { memberBadge, taskButton } from './parts.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {{ task: import('../app/team_types.js').Task, count: number }} HoldUp */

const MAX_HOLDUPS = 3;

/** @param {Model} model */
export function boardHoldups(model) {
  const list = make('ol', { class: 'holdup-list' });
  const node = make('div', { class: 'holdups' }, make('h2', {}, 'Top blockers'), list);
  const render = keyedChildren(list, (/** @type {HoldUp} */ { task }) => task.id, ({ task }) => {
    const button = taskButton(model, task.id);
    const count = make('strong', { class: 'holdup-count' });
    const mark = memberBadge(model);
    const mover = make('span', { class: 'holdup-mover' });
    let shownName = '';
    return {
      node: make('li', {}, count, button.node, mover),
      update(/** @type {HoldUp} */ next) {
        button.update(next.task);
        setText(count, next.count.toLocaleString('en-US'));
        setAttribute(count, 'title', `${next.count} wait for it, directly or indirectly`);
        const name = moverOf(next.task);
        if (isHeld(next.task)) mark.update(name);
        if (name === shownName) return;
        shownName = name;
        mover.classList.toggle('is-nobody', !isHeld(next.task));
        mover.replaceChildren(...(isHeld(next.task) ? [mark.node, make('span', { class: 'handle' }, name)] : [name]));
      },
    };
  });
  /** The tasks from which `holdups` was computed. @type {unknown} */
  let computedFrom = null;
  /** @type {HoldUp[]} */
  let holdups = [];
  return {
    node,
    update() {
      const { tasks } = model.state.board;
      if (computedFrom !== tasks) holdups = mostHoldingUp(tasks, MAX_HOLDUPS);
      computedFrom = tasks;
      node.hidden = holdups.length === 0;
      render(holdups);
    },
  };
}
