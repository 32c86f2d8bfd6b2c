// An open shutdown: who asks, why, who has answered, and whose answer is missing.

import { icon, make, setText } from '../app/dom.js';
import { unanswered } from '../app/teams.js';
import { countdown } from '../app/time.js';

/** @typedef {import('../app/team_types.js').Team} Team */

export function teamShutdown() {
  /** @type {Team | null} */
  let team = null;
  const title = make('strong', {});
  const reason = make('span', { class: 'shutdown-reason' });
  const time = make('span', { class: 'left-text' });
  const lists = make('p', { class: 'shutdown-answers' });
  const node = make('div', { class: 'shutdown', role: 'region', 'aria-label': 'Open shutdown' }, icon('warning'), make('div', {}, make('p', {}, title, ' ', reason), lists, make('p', { class: 'soft' }, time)));

  /** @param {number} now */
  function tick(now) {
    const { shutdown } = team ?? {};
    if (!shutdown) return;
    const left = shutdown.respondBy - now;
    setText(time, left > 0 ? `Answers are due in ${countdown(left)}; then ${team?.leader} may force it.` : `Answers are overdue: ${team?.leader} may force it.`);
  }

  return {
    node,
    tick,
    /** @param {Team | null} next @param {number} now */
    update(next, now) {
      team = next;
      const { shutdown } = team ?? {};
      node.hidden = !shutdown;
      if (!team || !shutdown) return;
      setText(title, shutdown.target === null ? `${shutdown.by} asks the team to stop.` : `${shutdown.by} asks ${shutdown.target} to stop.`);
      setText(reason, shutdown.reason);
      const groups = [
        ['approved', 'check', 'Approved', shutdown.approved],
        ['rejected', 'close', 'Rejected', shutdown.rejected],
        ['missing', 'clock', 'No answer yet', unanswered(team, shutdown).map(({ handle }) => handle)],
      ];
      lists.replaceChildren(...groups.filter(([, , , names]) => names.length > 0).map(([kind, mark, words, names]) => make('span', { class: `answers-${kind}` },
        icon(String(mark)), `${words}: `, make('strong', {}, /** @type {string[]} */ (names).join(', ')))));
      tick(now);
    },
  };
}
