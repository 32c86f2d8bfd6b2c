// The line above the board: the team, its open tasks, and whether the board is up to date.

import { keyedChildren, makeButton, makeElement, setAttribute, setText } from '../app/dom.js';
import { formatCount } from '../app/formatting.js';
import { isHeld } from '../app/tasks.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').TeamSummary} TeamSummary */

/** @param {Model} model */
export function boardBar(model) {
  const onchange = () => model.go({ team: select.value });
  const select = makeElement('select', { 'aria-label': 'Team', onchange });
  const facts = makeElement('span', { class: 'board-facts soft' });
  const state = makeElement('span', { class: 'board-state', role: 'status' });
  const views = /** @type {const} */ (['board', 'tasks']).map((view) => {
    const onclick = () => model.go({ view });
    return makeButton({ 'data-view': view, onclick }, view === 'board' ? 'Cards' : 'List');
  });
  const kinds = makeElement('div', { class: 'board-kinds', role: 'group', 'aria-label': 'Tasks as' }, ...views);
  const title = makeElement('h2', { class: 'unseen' }, 'Board');
  const node = makeElement('div', { class: 'board-bar' }, title, select, facts, state, kinds);
  const renderTeams = keyedChildren(select, (/** @type {TeamSummary} */ { name }) => name, ({ name }) => {
    const option = makeElement('option', { value: name });
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
      const open = board.phase === 'complete' ? read : team?.openTasks ?? 0;
      const working = new Set(tasks.filter(isHeld).map(({ owner }) => owner)).size;
      const parts = team ? [
        formatCount(open, 'open task'),
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
