// An open shutdown: its author, its reason, the answers, and the members that have not answered.

import { icon, makeElement, setText } from '../app/dom.js';
import { pendingResponders } from '../app/teams.js';
import { countdown } from '../app/time.js';

/** @typedef {import('../app/team_types.js').Team} Team */

export function teamShutdown() {
  /** @type {Team | null} */
  let team = null;
  const title = makeElement('strong');
  const reason = makeElement('span', { class: 'shutdown-reason' });
  const time = makeElement('span', { class: 'left-text' });
  const answers = makeElement('p', { class: 'shutdown-answers' });
  const content = makeElement('div', {},
    makeElement('p', {}, title, ' ', reason), answers, makeElement('p', { class: 'soft' }, time));
  const node = makeElement('div', { class: 'shutdown', role: 'region', 'aria-label': 'Open shutdown' },
    icon('warning'), content);

  /** @param {number} now */
  function tick(now) {
    if (!team?.shutdown) return;
    const left = team.shutdown.respondBy - now;
    setText(time, left > 0
      ? `Answers are due in ${countdown(left)}; then ${team.leader} may force it.`
      : `Answers are overdue: ${team.leader} may force it.`);
  }

  return {
    node,
    tick,
    /** @param {Team | null} next @param {number} now */
    update(next, now) {
      team = next;
      node.hidden = !team?.shutdown;
      if (!team?.shutdown) return;
      const { by, target, reason: words, approved, rejected } = team.shutdown;
      const missing = pendingResponders(team, team.shutdown).map(({ handle }) => handle);
      setText(title, `${by} asks ${target === null ? 'the team' : target} to stop.`);
      setText(reason, words);
      answers.replaceChildren(
        ...answerGroup('approved', 'check', 'Approved', approved),
        ...answerGroup('rejected', 'close', 'Rejected', rejected),
        ...answerGroup('missing', 'clock', 'No answer yet', missing));
      tick(now);
    },
  };
}

/** @param {string} kind @param {string} iconName @param {string} label @param {string[]} handles */
function answerGroup(kind, iconName, label, handles) {
  if (handles.length === 0) return [];
  const names = makeElement('strong', {}, handles.join(', '));
  return [makeElement('span', { class: `answers-${kind}` }, icon(iconName), `${label}: `, names)];
}
