// Reads the messages of a team while somebody looks at them: the newest, again after each that is sent, and older ones on demand.

import { ApiError } from './api.js';
import { ofTeam } from './board.js';
import { unreadMail, withNewest, withOlder } from './messages.js';
import { makeTimer, oneAtATime } from './reads.js';

const DEBOUNCE_MS = 500;
const UNANSWERED_MS = 5000;
const PAGE = 50;

/** @param {import('./optional_read.js').Part} part */
export function watchMail({ repoUrl, api, clock, timers, state, dispatch }) {
  let isStopped = false;
  let isLookedAt = false;
  const soon = makeTimer(() => read(), timers);

  /**
   * @param {import('./team_types.js').Mail} of What was asked for. After another choice, its answer is not wanted any more.
   * @param {(mail: import('./team_types.js').Mail) => import('./team_types.js').Mail} change
   */
  function tell(of, change) {
    const { mail } = state();
    if (!isStopped && mail.team === of.team && mail.inbox === of.inbox) dispatch({ type: 'mail', mail: change(mail) });
  }

  /** @param {import('./team_types.js').Mail} mail @param {Record<string, string>} range */
  async function get({ team, inbox }, range) {
    const { body } = await api.get('api/messages', { repo_url: repoUrl, team: team ?? '', limit: String(PAGE), ...range, ...(inbox && { member: inbox }) });
    return body;
  }

  const read = oneAtATime(async () => {
    soon.clear();
    const { mail } = state();
    if (isStopped || !isLookedAt || mail.team === null) return;
    try {
      const body = await get(mail, {});
      tell(mail, (current) => withNewest(current, body));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      tell(mail, (current) => ({ ...current, message: error.message }));
      const { retryAt } = error.problem;
      if (error.isUnanswered ? state().connection.phase === 'live' : retryAt !== null) soon.set(Math.max(UNANSWERED_MS, (retryAt ?? 0) - clock.now()));
    }
  });

  const lengthen = oneAtATime(async () => {
    const { mail } = state();
    if (mail.earlier === null) return;
    const body = await get(mail, { before: String(mail.earlier) });
    // Where newer messages have begun the list anew, these do not follow its oldest one.
    tell(mail, (current) => (current.earlier === mail.earlier ? withOlder(current, body) : current));
  });

  return {
    read,
    lengthen,
    /** Sees whose messages are wanted. */
    follow() {
      if (isStopped) return;
      const { mail, board, place } = state();
      if (mail.team === board.name && mail.inbox === place.inbox) return;
      dispatch({ type: 'mail', mail: unreadMail(board.name, place.inbox) });
      read();
    },
    /** @param {boolean} isNow Whether somebody looks at them. */
    look(isNow) {
      const wasLookedAt = isLookedAt;
      isLookedAt = isNow;
      if (isNow && !wasLookedAt) read();
    },
    /** @param {any[]} events About teams. */
    heard(events) {
      // Nobody is told that a message was read: whoever acts has probably read its own.
      if (ofTeam(state().mail.team, events).some(({ type }) => type === 'message_sent')) soon.set(DEBOUNCE_MS);
    },
    stop() {
      isStopped = true;
      soon.clear();
    },
  };
}
