// The line above the board: which team, how much there is to do, and whether all of it is as of now.

import { keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { isHeld } from '../app/tasks.js';
import { counted } from '../app/words.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').TeamSummary} TeamSummary */

/** @param {Model} model */
export function boardBar(model) {
  const select = /** @type {HTMLSelectElement} */ (make('select', { 'aria-label': 'Team', onchange: () => model.go({ team: select.value }) }));
  const facts = make('span', { class: 'board-facts soft' });
  const state = make('span', { class: 'board-state', role: 'status' });
  const kinds = /** @type {const} */ (['board', 'tasks']).map((view) => make('button', { type: 'button', 'data-view': view, onclick: () => model.go({ view }) }, view === 'board' ? 'Cards' : 'List'));
  const node = make('div', { class: 'board-bar' }, make('h2', { class: 'unseen' }, 'Board'), select, facts, state, make('div', { class: 'board-kinds', role: 'group', 'aria-label': 'Tasks as' }, ...kinds));
  const renderTeams = keyedChildren(select, (/** @type {TeamSummary} */ { name }) => name, ({ name }) => {
    const option = make('option', { value: name });
    return { node: option, update: (/** @type {TeamSummary} */ { isClosed }) => setText(option, isClosed ? `${name} (closed)` : name) };
  });
  return {
    node,
    update() {
      const { teams, board, place } = model.state;
      renderTeams(teams.list);
      select.value = board.name ?? '';
      select.title = board.team?.description ?? '';
      for (const button of kinds) setAttribute(button, 'aria-pressed', String(button.dataset.view === place.view));
      const { team } = board;
      const open = board.phase === 'whole' ? [...board.tasks.values()].filter(({ status }) => status !== 'completed').length : team?.openTasks ?? 0;
      const working = new Set([...board.tasks.values()].filter(isHeld).map(({ owner }) => owner)).size;
      const parts = team ? [counted(open, 'open task'), working > 0 ? `${working} at work` : 'nobody at work', `led by ${team.leader}`, team.isStrict ? 'strict' : '', team.closedAt ? 'closed' : ''] : [];
      setText(facts, parts.filter(Boolean).join(' \u00b7 '));
      facts.title = team?.isStrict ? 'In a strict team dependencies must be met before a claim.' : '';
      const read = [...board.tasks.values()].filter(({ status }) => status !== 'completed').length;
      const message = board.message ?? teams.message;
      state.classList.toggle('is-late', message !== null);
      setText(state, message ? `Out of date: ${message}` : board.phase === 'reading' && team ? `Reading tasks: ${read.toLocaleString('en-US')} of ${team.openTasks.toLocaleString('en-US')}` : '');
    },
  };
}
