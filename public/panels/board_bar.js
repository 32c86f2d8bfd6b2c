// The line above the board: the team, its open tasks, and whether the board is up to date.

import { keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { isHeld } from '../app/tasks.js';
import { counted } from '../app/words.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').TeamSummary} TeamSummary */

/** @param {Model} model */
export function boardBar(model) {
  const onchange = () => model.go({ team: select.value });
  const select = /** @type {HTMLSelectElement} */ (make('select', { 'aria-label': 'Team', onchange }));
  const facts = make('span', { class: 'board-facts soft' });
  const state = make('span', { class: 'board-state', role: 'status' });
  const views = /** @type {const} */ (['board', 'tasks']).map((view) => {
    const onclick = () => model.go({ view });
    return make('button', { type: 'button', 'data-view': view, onclick }, view === 'board' ? 'Cards' : 'List');
  });
  const node = make('div', { class: 'board-bar' }, make('h2', { class: 'unseen' }, 'Board'), select, facts, state,
    make('div', { class: 'board-kinds', role: 'group', 'aria-label': 'Tasks as' }, ...views));
  const renderTeams = keyedChildren(select, (/** @type {TeamSummary} */ { name }) => name, ({ name }) => {
    const option = make('option', { value: name });
    const update = (/** @type {TeamSummary} */ { isClosed }) => setText(option, isClosed ? `${name} (closed)` : name);
    return { node: option, update };
  });
  return {
    node,
    update() {
      const { teams, board, place } = model.state;
      const { team } = board;
      renderTeams(teams.list);
      select.value = board.name ?? '';
      select.title = team?.description ?? '';
      for (const button of views) setAttribute(button, 'aria-pressed', String(button.dataset.view === place.view));
      const tasks = [...board.tasks.values()];
      const read = tasks.filter(({ status }) => status !== 'completed').length;
      const open = board.phase === 'whole' ? read : team?.openTasks ?? 0;
      const working = new Set(tasks.filter(isHeld).map(({ owner }) => owner)).size;
      const parts = team ? [
        counted(open, 'open task'),
        working > 0 ? `${working} at work` : 'nobody at work',
        `led by ${team.leader}`,
        team.isStrict ? 'strict' : '',
        team.closedAt ? 'closed' : '',
      ] : [];
      setText(facts, parts.filter(Boolean).join(' \u00b7 '));
      facts.title = team?.isStrict ? 'In a strict team dependencies must be met before a claim.' : '';
      const message = board.message ?? teams.message;
      state.classList.toggle('is-late', message !== null);
      if (message) setText(state, `Out of date: ${message}`);
      else if (board.phase === 'reading' && team) {
        setText(state, `Reading tasks: ${read.toLocaleString('en-US')} of ${team.openTasks.toLocaleString('en-US')}`);
      } else setText(state, '');
    },
  };
}
