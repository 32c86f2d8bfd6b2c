// A button that selects a task. Its icon shows the column of the task.

import { icon, make, setAttribute, setIcon, setText } from '../app/dom.js';
import { columnOf } from '../app/tasks.js';
import { COLUMN_WORDS, standingOf } from '../app/team_words.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').Task} Task */

/** @param {Model} model @param {string} id @param {string} [team] By default the team of the board. */
export function taskButton(model, id, team) {
  const mark = icon('check');
  const title = make('span', { class: 'task-title' });
  // The icon as words, for screen readers.
  const columnText = make('span', { class: 'unseen' });
  const node = make('button', { type: 'button', class: 'task-button', onclick: select },
    mark, make('code', {}, id), ' ', title, ' ', columnText);

  function select() {
    const { place, board } = model.state;
    model.go({ view: place.view === 'tasks' ? 'tasks' : 'board', team: team ?? board.name, task: id });
  }

  return {
    node,
    /** @param {Task | null | undefined} task Empty if the page does not know it, because it may be completed. */
    update(task) {
      const column = task ? columnOf(task) : null;
      mark.toggleAttribute('hidden', column === null);
      if (column) setIcon(mark, COLUMN_WORDS[column].icon);
      setAttribute(node, 'data-column', column);
      setText(title, task?.title ?? '');
      setAttribute(node, 'title', task ? `${id}: ${task.title}\n${standingOf(task)}` : id);
      setText(columnText, column ? `(${COLUMN_WORDS[column].title})` : '');
      setAttribute(node, 'aria-current', model.state.place.task === id ? 'true' : null);
    },
  };
}
