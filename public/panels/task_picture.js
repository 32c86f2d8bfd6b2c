// A task between what it waits for, above, and what waits for it, below, with lines between them.

import { make, setText } from '../app/dom.js';
import { heldUpBy, pictureOf } from '../app/task_graph.js';
import { counted } from '../app/words.js';
import { taskButton } from './task_button.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').Task} Task */

const SVG = 'http://www.w3.org/2000/svg';
/** Of a row, and of its nodes, as the style sheet has them: sixteenths of a rem. */
const ROW = 58;
const NODE = 38;

/** @param {Model} model */
export function taskPicture(model) {
  const said = make('p', {});
  const lines = document.createElementNS(SVG, 'svg');
  lines.setAttribute('class', 'picture-lines');
  lines.setAttribute('aria-hidden', 'true');
  lines.setAttribute('preserveAspectRatio', 'none');
  const rows = make('div', { class: 'picture-rows' });
  const picture = make('div', { class: 'picture' }, lines, rows);
  const node = make('section', { class: 'file-section' }, make('h3', {}, 'Dependencies'), said, picture);
  /** What is drawn, so that the same is not drawn again: it may have the focus. */
  let drawn = '';

  /** @param {Task} task */
  function draw(task) {
    const { tasks } = model.state.board;
    const { rows: layers, middle, edges } = pictureOf(tasks, task);
    const key = JSON.stringify([layers, edges]) + layers.flat().map(({ id }) => tasks.get(id)?.lease.state + (tasks.get(id)?.status ?? '') + (tasks.get(id)?.dependencies.length ?? '')).join();
    picture.hidden = layers.length === 1;
    if (key === drawn) return;
    drawn = key;
    lines.setAttribute('viewBox', `0 0 100 ${layers.length * ROW}`);
    picture.style.setProperty('--rows', String(layers.length));
    lines.replaceChildren(...edges.map(({ from, to }) => {
      const path = document.createElementNS(SVG, 'path');
      const [top, bottom] = [from[0] * ROW + (ROW + NODE) / 2, to[0] * ROW + (ROW - NODE) / 2];
      const bend = (bottom - top) / 2;
      path.setAttribute('d', `M${from[1] * 100} ${top}C${from[1] * 100} ${top + bend} ${to[1] * 100} ${bottom - bend} ${to[1] * 100} ${bottom}`);
      return path;
    }));
    rows.replaceChildren(...layers.map((layer, place) => make('ul', { class: 'picture-row', 'aria-label': labelOf(place - middle) }, ...layer.map(({ id, more }) => {
      if (more > 0) return make('li', { class: 'picture-more soft' }, `and ${more} more`);
      const button = taskButton(model, id);
      button.update(id === task.id ? task : tasks.get(id));
      return make('li', {}, button.node);
    }))));
  }

  return {
    node,
    /** @param {Task} task */
    update(task) {
      const { tasks } = model.state.board;
      const count = task.status === 'completed' ? 0 : heldUpBy(tasks, task.id).size;
      const waits = task.dependencies.length > 0 ? `Waits for ${counted(task.dependencies.length, 'task')}.` : task.met.length > 0 ? `All of its ${counted(task.met.length, 'dependency', 'dependencies')} ${task.met.length === 1 ? 'is' : 'are'} met.` : 'Depends on nothing.';
      setText(said, `${waits} ${count > 0 ? `Blocks ${counted(count, 'task')}.` : 'Blocks nothing.'}`);
      draw(task);
    },
    reset() {
      drawn = '';
    },
  };
}

/** @param {number} distance Rows below the task itself. @returns {string} */
function labelOf(distance) {
  if (distance === 0) return 'The task';
  const way = Math.abs(distance) === 1 ? '' : ', through others';
  return distance < 0 ? `What it waits for${way}` : `What waits for it${way}`;
}
