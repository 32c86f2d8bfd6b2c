// The tasks that are about the selected file.

import { keyedChildren, make, setText } from '../app/dom.js';
import { standingOf } from '../app/team_words.js';
import { taskButton } from './task_button.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {{ team: string, task: import('../app/team_types.js').Task }} Row */

/** Before they are read again after something happened to tasks. */
const DEBOUNCE_MS = 1000;

/** @param {Model} model */
export function fileTasks(model) {
  let path = '';
  let turn = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** The newest event about teams that was seen. */
  let seen = newest();
  const list = make('ul', { class: 'file-task-list' });
  const none = make('p', { class: 'soft', role: 'status' });
  const node = make('section', { class: 'file-section' }, make('h3', {}, 'Tasks'), list, none);
  const render = keyedChildren(list, (/** @type {Row} */ { team, task }) => `${team} ${task.id}`, ({ team, task }) => {
    const button = taskButton(model, task.id, team);
    const words = make('span', { class: 'soft' });
    return {
      node: make('li', {}, button.node, words),
      update(/** @type {Row} */ next) {
        button.update(next.task);
        setText(words, model.state.teams.list.length > 1 ? `${standingOf(next.task)}, team ${team}` : standingOf(next.task));
      },
    };
  });

  /** @returns {string} */
  function newest() {
    return model.state.activity.find(({ isOfTeam }) => isOfTeam)?.id ?? '';
  }

  async function read() {
    const own = ++turn;
    if (model.state.teams.phase !== 'shown') return;
    try {
      const found = await model.tasksOf(path);
      if (own !== turn) return;
      const rows = found.flatMap(({ team, tasks }) => tasks.map((task) => ({ team, task })));
      render(rows.filter(({ task }) => task.status !== 'completed').concat(rows.filter(({ task }) => task.status === 'completed')));
      setText(none, rows.length === 0 ? 'No task is about it.' : '');
    } catch (error) {
      if (own === turn) setText(none, `The tasks cannot be read: ${error instanceof Error ? error.message : error}`);
    }
  }

  return {
    node,
    /** @param {string} next */
    show(next) {
      path = next;
      seen = newest();
      clearTimeout(timer);
      render([]);
      setText(none, 'Reading the tasks');
      node.hidden = model.state.teams.phase !== 'shown';
      read();
    },
    refresh() {
      const wasHidden = node.hidden;
      node.hidden = model.state.teams.phase !== 'shown';
      const id = newest();
      if (id === seen && !(wasHidden && !node.hidden)) return;
      seen = id;
      clearTimeout(timer);
      timer = setTimeout(read, DEBOUNCE_MS);
    },
    destroy: () => clearTimeout(timer),
  };
}
