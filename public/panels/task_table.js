// The tasks of a board as a table.

import { makeButton, makeElement, setAttribute, setText } from '../app/dom.js';
import { formatCount } from '../app/formatting.js';
import { columnOf, dependentsOf, isHeld } from '../app/tasks.js';
import { COLUMN_LABELS, statusLabel } from '../app/team_labels.js';
import { countdown } from '../app/time.js';
import { TASK_COLUMNS, taskRows } from './task_rows.js';
import { rowCells, windowTable } from './window_table.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').Task} Task */

/** @param {HTMLElement} element @param {Model} model */
export function mountTaskTable(element, model) {
  windowTable(element, model, {
    name: 'tasks',
    label: 'Table of tasks',
    caption: 'Tasks of the team. The buttons of the header sort; arrow keys move between tasks.',
    columns: TASK_COLUMNS,
    sortedBy: 'status',
    switchLabel: 'Only what is not completed',
    list(choice) {
      const { board } = model.state;
      const rows = taskRows(board.tasks, choice);
      const read = [...board.tasks.values()].filter(({ status }) => status === 'completed').length;
      const unread = board.done === 'complete' ? 0 : Math.max(0, (board.team?.doneTasks ?? 0) - read);
      const isCut = choice.filter || choice.isOnly;
      const total = [
        `${formatCount(rows.length, 'task')}${isCut ? ` of ${board.tasks.size.toLocaleString('en-US')}` : ''}`,
        unread > 0 && !choice.isOnly ? `${unread.toLocaleString('en-US')} completed ones not read` : '',
      ].filter(Boolean).join(', ');
      let empty = 'No task matches.';
      if (board.phase !== 'complete') empty = 'Reading the tasks';
      else if (board.tasks.size === 0) empty = 'The team has no tasks yet.';
      return { rows, total, empty };
    },
    keyOf: ({ id }) => id,
    create: ({ id }) => taskRow(model, id),
    isAffectedBy: (changed) => changed.has('board'),
  });
}

/** @param {Model} model @param {string} id */
function taskRow(model, id) {
  /** @type {Task | null} */
  let task = null;
  const select = () => model.go({ task: id, team: model.state.board.name });
  const button = makeButton({ class: 'table-file task-title', onclick: select });
  const { node, cells } = rowCells(TASK_COLUMNS, 'title', select);
  cells.title.append(button);
  cells.id.append(makeElement('code', {}, id));

  /** @param {number} now */
  function tick(now) {
    const expires = task && isHeld(task) ? task.lease.expires : null;
    setText(cells.expiry, expires === null ? '' : countdown(expires - now));
  }

  return {
    node,
    button,
    tick,
    /** @param {Task} next */
    update(next) {
      task = next;
      const { title, owner, priority, dependencies, lapses, assignee, files, status } = next;
      const isCompleted = status === 'completed';
      const dependents = dependentsOf(model.state.board.tasks).get(id);
      setAttribute(node, 'aria-current', model.state.place.task === id ? 'true' : null);
      setAttribute(button, 'title', title);
      setText(button, title);
      setText(cells.status, COLUMN_LABELS[columnOf(next)].title);
      setAttribute(cells.status, 'title', statusLabel(next));
      setText(cells.owner, owner ?? '');
      setText(cells.priority, priority === 'normal' ? '' : priority);
      setText(cells.waits, dependencies.join(', '));
      setText(cells.holds, isCompleted || !dependents ? '' : String(dependents.length));
      setText(cells.lapses, lapses > 0 ? String(lapses) : '');
      setText(cells.assignee, isCompleted ? '' : assignee ?? '');
      setText(cells.files, files.join(', '));
      setAttribute(cells.files, 'title', files.slice(0, 20).join('\n'));
      tick(model.now());
    },
  };
}
