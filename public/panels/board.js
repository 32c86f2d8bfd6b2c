// The board of a team: what is blocked, ready, in progress and done; the top blockers; an open shutdown.

import { filteredColumns, taskOf } from '../app/board.js';
import { make, setAttribute, setText } from '../app/dom.js';
import { COLUMNS, columnOf } from '../app/tasks.js';
import { boardBar } from './board_bar.js';
import { boardColumn } from './board_column.js';
import { boardHoldups } from './board_holdups.js';
import { needsSignIn } from './needs_sign_in.js';
import { mountTaskTable } from './task_table.js';
import { teamShutdown } from './team_shutdown.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */

/**
 * @param {HTMLElement} element
 * @param {Model} model
 * @param {{ signIn: () => void }} actions
 */
export function mountBoard(element, model, { signIn }) {
  const locked = needsSignIn('Teams need signing in: they are shown to those who may read the repository.', signIn);
  const none = make('div', { class: 'empty' },
    make('p', { class: 'board-none' }),
    make('p', {}, 'A team begins with ', make('code', {}, 'coord team create NAME'), ' in the repository; its board appears here by itself.'));
  const bar = boardBar(model);
  const shutdown = teamShutdown();
  const holdups = boardHoldups(model);
  const columns = COLUMNS.map((name) => ({ name, column: boardColumn(model, name) }));
  const older = make('button', { type: 'button', class: 'quiet', onclick: () => model.readDone() }, 'Read the completed tasks');
  columns[3].column.append(older);
  const frame = make('div', { class: 'columns', onkeydown: onKey }, ...columns.map(({ column }) => column.node));
  const table = make('div', { class: 'board-table', hidden: true });
  const whole = make('div', { class: 'board-whole' }, bar.node, shutdown.node, holdups.node, frame, table);
  element.classList.add('panel', 'board');
  element.append(locked.node, none, whole);
  let isOutdated = true;
  let revealed = '';
  let filter = model.state.place.filter;
  let name = model.state.board.name;

  function render() {
    const { teams, board, place } = model.state;
    if (element.hidden) {
      isOutdated = true;
      return;
    }
    isOutdated = false;
    const isShown = teams.phase === 'shown' && board.name !== null;
    whole.hidden = !isShown;
    locked.update(teams.phase === 'sign_in' ? teams.message : null);
    none.hidden = isShown || teams.phase === 'sign_in';
    const isMissing = teams.phase === 'shown' && place.team !== null;
    setText(/** @type {Element} */ (none.firstChild), teams.phase === 'unknown' ? 'Reading the teams of the repository' : isMissing ? `There is no team "${place.team}".` : 'This repository has no team.');
    /** @type {HTMLElement} */ (none.lastChild).hidden = teams.phase === 'unknown';
    if (!isShown) return;
    if (board.name !== name || place.filter !== filter) for (const { column } of columns) column.reset();
    name = board.name;
    filter = place.filter;
    bar.update();
    shutdown.update(board.team, model.now());
    frame.hidden = holdups.node.hidden = place.view !== 'board';
    table.hidden = place.view !== 'tasks';
    if (place.view !== 'board') return;
    holdups.update();
    const shown = filteredColumns(board, place.filter);
    for (const each of columns) {
      const isDone = each.name === 'done';
      const isKnown = isDone ? board.done === 'whole' : board.phase === 'whole';
      const total = isDone && !isKnown && !place.filter ? board.team?.doneTasks ?? null : null;
      each.column.update(shown[each.name], { total, isFiltered: place.filter !== '', isReading: isDone ? board.done === 'reading' : !isKnown });
    }
    older.hidden = board.done !== 'unread' || board.phase !== 'whole';
    setAttribute(older, 'aria-busy', board.done === 'reading' ? 'true' : null);
    const task = taskOf(board, place.task);
    if (task && revealed !== task.id) columns.find((each) => each.name === columnOf(task))?.column.reveal(task.id);
    revealed = task ? task.id : '';
  }

  /** Arrows move between the cards; up and down within a column, left and right to another. @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const from = columns.findIndex(({ column }) => column.node.contains(document.activeElement));
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    const buttons = columns[from]?.column.buttons() ?? [];
    const place = buttons.indexOf(focused);
    if (place < 0) return;
    const next = nextCard(event.key, from, place, buttons);
    if (!next) return;
    event.preventDefault();
    next.focus({ preventScroll: true });
    next.closest('li')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  /** @param {string} key @param {number} from @param {number} place @param {HTMLElement[]} buttons @returns {HTMLElement | null} */
  function nextCard(key, from, place, buttons) {
    if (key === 'ArrowDown') return buttons[place + 1] ?? null;
    if (key === 'ArrowUp') return buttons[place - 1] ?? null;
    if (key === 'Home') return buttons[0];
    if (key === 'End') return buttons[buttons.length - 1];
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return null;
    for (let at = from + step; at >= 0 && at < columns.length; at += step) {
      const others = columns[at].column.buttons();
      if (others.length > 0) return others[Math.min(place, others.length - 1)];
    }
    return null;
  }

  const ofTable = mountTaskTable(table, model);
  const endTicks = everySecond(() => {
    if (element.hidden) return;
    const now = model.now();
    for (const { column } of columns) column.tick(now);
    shutdown.tick(now);
  });
  const unsubscribe = model.subscribe((changed) => {
    if (changed.has('board') || changed.has('teams') || changed.has('place') || changed.has('locks') || changed.has('agents') || isOutdated) render();
  });
  render();
  return {
    destroy() {
      endTicks();
      ofTable.destroy();
      unsubscribe();
    },
  };
}
