// Reads teams, the board and the messages when there is a reason to, and only the parts that the page shows.

import { watchBoard } from './board_watch.js';
import { watchMail } from './mail_watch.js';
import { makeOptionalRead } from './optional_read.js';
import { emptyTeams, isTeamEvent, readTeams } from './teams.js';
import { watchWork } from './work_watch.js';

/** Delay of a read, so that several events cause one. */
const DEBOUNCE_MS = 250;

/** @param {import('./optional_read.js').WatchContext} context */
export function watchTeams(context) {
  const { repoUrl, api, state, dispatch } = context;
  const board = watchBoard(context);
  const mail = watchMail(context);
  const work = watchWork(context);

  function syncSelection() {
    board.syncSelection();
    mail.syncSelection();
    work.syncSelection();
  }

  /** @param {import('./team_types.js').Teams} teams */
  function setTeams(teams) {
    if (reads.isStopped()) return;
    dispatch({ type: 'teams', teams });
    syncSelection();
  }

  const reads = makeOptionalRead(context, {
    async load() {
      const { body } = await api.get('api/teams', { repo_url: repoUrl });
      setTeams(readTeams(body));
    },
    onFailure(phase, message) {
      if (phase !== 'unavailable') {
        setTeams({ ...emptyTeams(), phase, message: phase === 'sign_in' ? message : null });
      } else if (state().teams.phase === 'shown') setTeams({ ...state().teams, message });
    },
  });

  return {
    readFirst: reads.readFirst,
    /** @param {boolean} isResumed Whether the stream delivers the missed events. */
    async onStreamOpened(isResumed) {
      if (!isResumed) board.markOutdated();
      await reads.read();
      mail.read();
    },
    /** Called when the user comes back to the page. */
    wake() {
      board.wake();
      mail.read();
    },
    /** Called when another team, task, inbox or view is selected. */
    syncSelection,
    /** @param {any[]} events */
    onEvents(events) {
      const teamEvents = events.filter(isTeamEvent);
      if (teamEvents.length === 0 || reads.isOver()) return;
      board.onEvents(teamEvents);
      mail.onEvents(teamEvents);
      work.onEvents(teamEvents);
      // The first event about a team in a repository without teams means that it has some now.
      const hasChanged = teamEvents.some(({ type }) => type === 'team_changed');
      if (state().teams.phase !== 'shown' || hasChanged) reads.readSoon(DEBOUNCE_MS);
    },
    followMail: mail.setFollowed,
    loadOlderMessages: mail.loadOlder,
    readCompletedTasks: board.readCompletedTasks,
    stop() {
      reads.stop();
      board.stop();
      mail.stop();
      work.stop();
    },
  };
}
