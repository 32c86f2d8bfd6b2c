// Reads the messages of a team while they are in view: the newest, after each new message, and older ones on demand.

import { ApiError } from './api.js';
import { eventsOfTeam } from './board.js';
import { emptyMail, withNewest, withOlder } from './messages.js';
import { coalesceCalls, makeTimer } from './scheduling.js';

const DEBOUNCE_MS = 500;
const PAGE = 50;

/** @param {import('./optional_read.js').WatchContext} context */
export function watchMail({ repoUrl, api, clock, timers, state, dispatch }) {
  let isStopped = false;
  let isFollowed = false;
  const soon = makeTimer(() => read(), timers);

  /**
   * @param {import('./team_types.js').Mail} requested If the user has selected other messages since, the change is
   *   dropped.
   * @param {(mail: import('./team_types.js').Mail) => import('./team_types.js').Mail} change
   */
  function updateMail(requested, change) {
    const { mail } = state();
    const isCurrent = mail.team === requested.team && mail.inbox === requested.inbox;
    if (!isStopped && isCurrent) dispatch({ type: 'mail', mail: change(mail) });
  }

  /** @param {import('./team_types.js').Mail} mail @param {Record<string, string>} range */
  async function fetchPage({ team, inbox }, range) {
    const page = { repo_url: repoUrl, team: team ?? '', limit: String(PAGE), ...range };
    const { body } = await api.get('api/messages', { ...page, ...(inbox && { member: inbox }) });
    return body;
  }

  const read = coalesceCalls(async () => {
    soon.clear();
    const { mail } = state();
    if (isStopped || !isFollowed || mail.team === null) return;
    try {
      const body = await fetchPage(mail, {});
      updateMail(mail, (current) => withNewest(current, body));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      updateMail(mail, (current) => ({ ...current, message: error.message }));
      const delay = error.retryDelay(state().connection, clock.now());
      if (delay !== null) soon.set(delay);
    }
  });

  const loadOlder = coalesceCalls(async () => {
    const { mail } = state();
    if (mail.earlier === null) return;
    const body = await fetchPage(mail, { before: String(mail.earlier) });
    // If newer messages have restarted the list, this page does not join its oldest message.
    updateMail(mail, (current) => (current.earlier === mail.earlier ? withOlder(current, body) : current));
  });

  return {
    read,
    loadOlder,
    /** Switches to the messages of the selected team and inbox. */
    syncSelection() {
      if (isStopped) return;
      const { mail, board, place } = state();
      if (mail.team === board.name && mail.inbox === place.inbox) return;
      dispatch({ type: 'mail', mail: emptyMail(board.name, place.inbox) });
      read();
    },
    /** @param {boolean} isNowFollowed Whether the messages are in view. */
    setFollowed(isNowFollowed) {
      const wasFollowed = isFollowed;
      isFollowed = isNowFollowed;
      if (isFollowed && !wasFollowed) read();
    },
    /** @param {any[]} events About teams. */
    onEvents(events) {
      // No event says that a message was read.
      if (eventsOfTeam(state().mail.team, events).some(({ type }) => type === 'message_sent')) soon.set(DEBOUNCE_MS);
    },
    stop() {
      isStopped = true;
      soon.clear();
    },
  };
}
