// The tasks about the selected file.

import { keyedChildren, makeElement, setText } from '../app/dom.js';
import { errorSentence } from '../app/formatting.js';
import { statusLabel } from '../app/team_labels.js';
import { detailSection, taskButton } from './elements.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {{ team: string, task: import('../app/team_types.js').Task }} Row */

/** Delay of a read after an event about tasks, so that several events cause one. */
const DEBOUNCE_MS = 1000;

/** @param {Model} model */
export function fileTasks(model) {
  let path = '';
  let lastRequest = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let lastEventId = newestEventId();
  const list = makeElement('ul', { class: 'file-task-list' });
  const note = makeElement('p', { class: 'soft', role: 'status' });
  const node = detailSection('Tasks', list, note);
  const keyOf = (/** @type {Row} */ { team, task }) => `${team} ${task.id}`;
  const render = keyedChildren(list, keyOf, ({ team, task }) => {
    const button = taskButton(model, task.id, team);
    const words = makeElement('span', { class: 'soft' });
    return {
      node: makeElement('li', {}, button.node, words),
      update(/** @type {Row} */ next) {
        button.update(next.task);
        const hasSeveralTeams = model.state.teams.list.length > 1;
        setText(words, `${statusLabel(next.task)}${hasSeveralTeams ? `, team ${team}` : ''}`);
      },
    };
  });

  /** @returns {string} The id of the newest event about teams. */
  function newestEventId() {
    return model.state.activity.find(({ isOfTeam }) => isOfTeam)?.id ?? '';
  }

  async function read() {
    lastRequest += 1;
    const request = lastRequest;
    if (model.state.teams.phase !== 'shown') return;
    try {
      const teams = await model.tasksOf(path);
      if (request !== lastRequest) return;
      const rows = teams.flatMap(({ team, tasks }) => tasks.map((task) => ({ team, task })));
      const isCompleted = (/** @type {Row} */ { task }) => task.status === 'completed';
      render([...rows.filter((row) => !isCompleted(row)), ...rows.filter(isCompleted)]);
      setText(note, rows.length === 0 ? 'No tasks for this file.' : '');
    } catch (error) {
      if (request !== lastRequest) return;
      setText(note, `The tasks cannot be read: ${errorSentence(error)}`);
    }
  }

  return {
    node,
    /** @param {string} next */
    show(next) {
      path = next;
      lastEventId = newestEventId();
      clearTimeout(timer);
      render([]);
      setText(note, 'Reading the tasks');
      node.hidden = model.state.teams.phase !== 'shown';
      read();
    },
    refresh() {
      const wasHidden = node.hidden;
      node.hidden = model.state.teams.phase !== 'shown';
      const eventId = newestEventId();
      if (eventId === lastEventId && !(wasHidden && !node.hidden)) return;
      lastEventId = eventId;
      clearTimeout(timer);
      timer = setTimeout(read, DEBOUNCE_MS);
    },
  };
}
