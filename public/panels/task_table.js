// The tasks of a board as a table.

import { make, setAttribute, setText } from '../app/dom.js';
import { columnOf, dependentsOf, isHeld } from '../app/tasks.js';
import { COLUMN_WORDS, standingOf } from '../app/team_words.js';
import { countdown } from '../app/time.js';
import { counted } from '../app/words.js';
import { COLUMNS, taskRows } from './task_rows.js';
import { windowTable } from './window_table.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').Task} Task */

/** @param {HTMLElement} element @param {Model} model */
export function mountTaskTable(element, model) {
  return windowTable(element, model, {
    name: 'tasks',
    label: 'Table of tasks',
    caption: 'Tasks of the team. The buttons of the header sort; arrow keys move between tasks.',
    columns: COLUMNS,
    sortedBy: 'standing',
    only: 'Only what is not completed',
    list(choice) {
      const { board } = model.state;
      const rows = taskRows(board.tasks, choice);
      const unread = board.done === 'whole' ? 0 : Math.max(0, (board.team?.doneTasks ?? 0) - [...board.tasks.values()].filter(({ status }) => status === 'completed').length);
      const isCut = choice.filter || choice.isOnly;
      const total = `${counted(rows.length, 'task')}${isCut ? ` of ${board.tasks.size.toLocaleString('en-US')}` : ''}${unread > 0 && !choice.isOnly ? `, ${unread.toLocaleString('en-US')} completed ones not read` : ''}`;
      return { rows, total, empty: board.phase !== 'whole' ? 'Reading the tasks' : board.tasks.size === 0 ? 'The team has no tasks yet.' : 'No task matches.' };
    },
    keyOf: ({ id }) => id,
    create: (task) => taskRow(model, task),
    isAbout: (changed) => changed.has('board'),
  });
}

/** @param {Model} model @param {Task} first */
function taskRow(model, { id }) {
  /** @type {Task | null} */
  let task = null;
  const select = () => model.go({ task: id, team: model.state.board.name });
  const button = make('button', { type: 'button', class: 'table-file task-title', onclick: select });
  /** @type {Record<string, HTMLElement>} */
  const cells = {};
  const node = make('tr', {
    onclick: (/** @type {MouseEvent} */ event) => {
      if (!(event.target instanceof Element && event.target.closest('button')) && !window.getSelection()?.toString()) select();
    },
  });
  for (const { id: column, isNumber } of COLUMNS) {
    cells[column] = make(column === 'title' ? 'th' : 'td', { class: `col-${column}${isNumber ? ' is-number' : ''}`, scope: column === 'title' ? 'row' : null });
    node.append(cells[column]);
  }
  cells.title.append(button);
  cells.id.append(make('code', {}, id));

  /** @param {number} now */
  function tick(now) {
    const expires = task && isHeld(task) ? task.lease.expires : null;
    setText(cells.lapse, expires === null ? '' : countdown(expires - now));
  }

  return {
    node,
    button,
    tick,
    /** @param {Task} next @param {number} place @param {boolean} isActive */
    update(next, place, isActive) {
      task = next;
      const { title, owner, priority, dependencies, lapses, assignee, files, status } = next;
      setAttribute(node, 'aria-rowindex', String(place + 2));
      setAttribute(node, 'aria-current', model.state.place.task === id ? 'true' : null);
      setAttribute(button, 'tabindex', isActive ? '0' : '-1');
      setAttribute(button, 'title', title);
      setText(button, title);
      setText(cells.standing, COLUMN_WORDS[columnOf(next)].title);
      setAttribute(cells.standing, 'title', standingOf(next));
      setText(cells.owner, owner ?? '');
      setText(cells.priority, priority === 'normal' ? '' : priority);
      setText(cells.waits, dependencies.join(', '));
      setText(cells.holds, String(status === 'completed' ? '' : dependentsOf(model.state.board.tasks).get(id)?.length ?? ''));
      setText(cells.lapses, lapses > 0 ? String(lapses) : '');
      setText(cells.assignee, status === 'completed' ? '' : assignee ?? '');
      setText(cells.files, files.join(', '));
      setAttribute(cells.files, 'title', files.slice(0, 20).join('\n'));
      tick(model.now());
    },
  };
}
