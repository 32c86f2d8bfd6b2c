// The board of a team: its columns of tasks, its top blockers, and an open shutdown.

import { filterColumns, taskOf } from '../app/board.js';
import { makeButton, makeElement, setAttribute, setText } from '../app/dom.js';
import { BOARD_COLUMNS, columnOf } from '../app/tasks.js';
import { boardBar } from './board_bar.js';
import { boardBlockers } from './board_blockers.js';
import { boardColumn } from './board_column.js';
import { signInPrompt } from './sign_in_prompt.js';
import { mountTaskTable } from './task_table.js';
import { teamShutdown } from './team_shutdown.js';
import { onTick } from './ticker.js';

const SIGN_IN_TEXT = 'Teams need signing in: they are shown to those who may read the repository.';

/**
 * @param {HTMLElement} element
 * @param {import('../app/types.js').Model} model
 * @param {{ signIn: () => void }} actions
 */
export function mountBoard(element, model, { signIn }) {
  const signInNote = signInPrompt(SIGN_IN_TEXT, signIn);
  const reason = makeElement('p', { class: 'board-none' });
  const advice = makeElement('p', {}, 'A team begins with ', makeElement('code', {}, 'coord team create NAME'),
    ' in the repository; its board appears here by itself.');
  const noTeam = makeElement('div', { class: 'empty' }, reason, advice);
  const bar = boardBar(model);
  const shutdown = teamShutdown();
  const blockers = boardBlockers(model);
  const columns = BOARD_COLUMNS.map((name) => ({ name, column: boardColumn(model, name) }));
  const readDone = makeButton({ class: 'quiet', onclick: () => model.readCompletedTasks() },
    'Read the completed tasks');
  columns[3].column.append(readDone);
  const frame = makeElement('div', { class: 'columns', onkeydown: onKey }, ...columns.map(({ column }) => column.node));
  const table = makeElement('div', { class: 'board-table', hidden: true });
  const content = makeElement('div', { class: 'board-content' }, bar.node, shutdown.node, blockers.node, frame, table);
  element.classList.add('panel', 'board');
  element.append(signInNote.node, noTeam, content);
  let isOutdated = true;
  let revealedTask = '';
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
    content.hidden = !isShown;
    signInNote.update(teams.phase === 'sign_in' ? teams.message : null);
    noTeam.hidden = isShown || teams.phase === 'sign_in';
    if (teams.phase === 'unknown') setText(reason, 'Reading the teams of the repository');
    else if (teams.phase === 'shown' && place.team !== null) setText(reason, `There is no team "${place.team}".`);
    else setText(reason, 'This repository has no team.');
    advice.hidden = teams.phase === 'unknown';
    if (!isShown) return;
    if (board.name !== name || place.filter !== filter) for (const { column } of columns) column.reset();
    name = board.name;
    filter = place.filter;
    bar.update();
    shutdown.update(board.team, model.now());
    frame.hidden = blockers.node.hidden = place.view !== 'board';
    table.hidden = place.view !== 'tasks';
    if (place.view === 'board') renderColumns();
  }

  function renderColumns() {
    const { board, place } = model.state;
    blockers.update();
    const tasks = filterColumns(board, place.filter);
    for (const each of columns) {
      const isDone = each.name === 'done';
      const isComplete = isDone ? board.done === 'complete' : board.phase === 'complete';
      const total = isDone && !isComplete && !place.filter ? board.team?.doneTasks ?? null : null;
      const isReading = isDone ? board.done === 'reading' : !isComplete;
      each.column.update(tasks[each.name], { total, isFiltered: place.filter !== '', isReading });
    }
    readDone.hidden = board.done !== 'unread' || board.phase !== 'complete';
    setAttribute(readDone, 'aria-busy', board.done === 'reading' ? 'true' : null);
    const task = taskOf(board, place.task);
    if (task && revealedTask !== task.id) {
      columns.find((each) => each.name === columnOf(task))?.column.reveal(task.id);
    }
    revealedTask = task ? task.id : '';
  }

  /** Up and down move within a column, left and right to another column. @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const from = columns.findIndex(({ column }) => column.node.contains(document.activeElement));
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    const buttons = columns[from]?.column.buttons() ?? [];
    const index = buttons.indexOf(focused);
    if (index < 0) return;
    const next = nextCard(event.key, from, index, buttons);
    if (!next) return;
    event.preventDefault();
    next.focus({ preventScroll: true });
    next.closest('li')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  /**
   * @param {string} key
   * @param {number} from Index of the column.
   * @param {number} index Of the card in the column.
   * @param {HTMLElement[]} buttons
   * @returns {HTMLElement | null}
   */
  function nextCard(key, from, index, buttons) {
    if (key === 'ArrowDown') return buttons[index + 1] ?? null;
    if (key === 'ArrowUp') return buttons[index - 1] ?? null;
    if (key === 'Home') return buttons[0];
    if (key === 'End') return buttons[buttons.length - 1];
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return null;
    for (let target = from + step; target >= 0 && target < columns.length; target += step) {
      const targetButtons = columns[target].column.buttons();
      if (targetButtons.length > 0) return targetButtons[Math.min(index, targetButtons.length - 1)];
    }
    return null;
  }

  mountTaskTable(table, model);
  onTick(() => {
    if (element.hidden) return;
    const now = model.now();
    for (const { column } of columns) column.tick(now);
    shutdown.tick(now);
  });
  const causes = /** @type {const} */ (['board', 'teams', 'place', 'locks', 'agents']);
  model.subscribe((changed) => {
    if (isOutdated || causes.some((part) => changed.has(part))) render();
  });
  render();
}
