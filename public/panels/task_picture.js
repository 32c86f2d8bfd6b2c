// A task with its dependencies above it, its dependents below it, and lines between them.

import { makeElement, setText, SVG } from '../app/dom.js';
import { formatCount } from '../app/formatting.js';
import { pictureOf, tasksBlockedBy } from '../app/task_graph.js';
import { detailSection, taskButton } from './elements.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').Task} Task */

/** Heights of a row and of its nodes in the style sheet, in sixteenths of a rem. */
const ROW = 58;
const NODE = 38;

/** @param {Model} model */
export function taskPicture(model) {
  const summary = makeElement('p');
  const lines = document.createElementNS(SVG, 'svg');
  lines.setAttribute('class', 'picture-lines');
  lines.setAttribute('aria-hidden', 'true');
  lines.setAttribute('preserveAspectRatio', 'none');
  const rowList = makeElement('div', { class: 'picture-rows' });
  const picture = makeElement('div', { class: 'picture' }, lines, rowList);
  const node = detailSection('Dependencies', summary, picture);
  /** Key of the picture on the screen. The same picture is not drawn again, because it may have the focus. */
  let shownKey = '';

  /** @param {Task} task */
  function draw(task) {
    const { tasks } = model.state.board;
    const { rows, middle, edges } = pictureOf(tasks, task);
    const states = rows.flat().map(({ id }) => {
      const each = tasks.get(id);
      return [each?.lease.state, each?.status, each?.dependencies.length];
    });
    const key = JSON.stringify([rows, edges, states]);
    picture.hidden = rows.length === 1;
    if (key === shownKey) return;
    shownKey = key;
    lines.setAttribute('viewBox', `0 0 100 ${rows.length * ROW}`);
    picture.style.setProperty('--rows', String(rows.length));
    lines.replaceChildren(...edges.map(edgePath));
    rowList.replaceChildren(...rows.map((row, index) => {
      const items = row.map(({ id, more }) => {
        if (more > 0) return makeElement('li', { class: 'picture-more soft' }, `and ${more} more`);
        const button = taskButton(model, id);
        button.update(id === task.id ? task : tasks.get(id));
        return makeElement('li', {}, button.node);
      });
      return makeElement('ul', { class: 'picture-row', 'aria-label': labelOf(index - middle) }, ...items);
    }));
  }

  return {
    node,
    /** @param {Task} task */
    update(task) {
      const blocked = task.status === 'completed' ? 0 : tasksBlockedBy(model.state.board.tasks, task.id).size;
      const blocks = blocked > 0 ? `Blocks ${formatCount(blocked, 'task')}.` : 'Blocks nothing.';
      setText(summary, `${dependencySentence(task)} ${blocks}`);
      draw(task);
    },
    reset() {
      shownKey = '';
    },
  };
}

/** @param {import('../app/task_graph.js').Edge} edge */
function edgePath({ from, to }) {
  const path = document.createElementNS(SVG, 'path');
  const [startX, endX] = [from[1] * 100, to[1] * 100];
  const [top, bottom] = [from[0] * ROW + (ROW + NODE) / 2, to[0] * ROW + (ROW - NODE) / 2];
  const bend = (bottom - top) / 2;
  path.setAttribute('d', `M${startX} ${top}C${startX} ${top + bend} ${endX} ${bottom - bend} ${endX} ${bottom}`);
  return path;
}

/** @param {Task} task @returns {string} */
function dependencySentence({ dependencies, met }) {
  if (dependencies.length > 0) return `Waits for ${formatCount(dependencies.length, 'task')}.`;
  if (met.length === 0) return 'No dependencies.';
  return `All of its ${formatCount(met.length, 'dependency', 'dependencies')} ${met.length === 1 ? 'is' : 'are'} met.`;
}

/** @param {number} distance Rows below the task itself. @returns {string} */
function labelOf(distance) {
  if (distance === 0) return 'The task';
  const suffix = Math.abs(distance) === 1 ? '' : ', indirectly';
  return distance < 0 ? `What it waits for${suffix}` : `What waits for it${suffix}`;
}
