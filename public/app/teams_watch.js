// Reads teams, the board and the messages when there is a reason to, and only what the page shows of them.

import { watchBoard } from './board_watch.js';
import { watchMail } from './mail_watch.js';
import { makeOptionalRead } from './optional_read.js';
import { isOfTeams, readTeams, unknownTeams } from './teams.js';
import { watchWork } from './work_watch.js';

/** Before a read that several events want. */
const DEBOUNCE_MS = 250;

/** @param {import('./optional_read.js').Part} part */
export function watchTeams(part) {
  const { repoUrl, api, state, dispatch } = part;
  const board = watchBoard(part);
  const mail = watchMail(part);
  const work = watchWork(part);

  /** @param {import('./team_types.js').Teams} teams */
  function tell(teams) {
    if (list.isStopped()) return;
    dispatch({ type: 'teams', teams });
    board.follow();
    mail.follow();
    work.follow();
  }

  const list = makeOptionalRead(part, {
    async ask() {
      const { body } = await api.get('api/teams', { repo_url: repoUrl });
      tell(readTeams(body));
    },
    fail(phase, message) {
      if (phase !== 'late') tell({ ...unknownTeams(), phase, message: phase === 'sign_in' ? message : null });
      else if (state().teams.phase === 'shown') tell({ ...state().teams, message });
    },
  });

  return {
    readFirst: list.readFirst,
    /** @param {boolean} isResumed Whether the events that were missed follow. */
    async opened(isResumed) {
      if (!isResumed) board.outdate();
      await list.read();
      mail.read();
    },
    /** Somebody comes back to the page. */
    wake() {
      board.wake();
      mail.read();
    },
    /** Another team, task, inbox or view is chosen. */
    moved() {
      board.follow();
      mail.follow();
      work.follow();
    },
    /** @param {any[]} events */
    heard(events) {
      const own = events.filter(isOfTeams);
      if (own.length === 0 || list.isOver()) return;
      board.heard(own);
      mail.heard(own);
      work.heard(own);
      // The first event about a team in a repository without teams is one that has some now.
      if (state().teams.phase !== 'shown' || own.some(({ type }) => type === 'team_changed')) list.readSoon(DEBOUNCE_MS);
    },
    followMail: mail.look,
    lengthenMail: mail.lengthen,
    readDone: board.readDone,
    stop() {
      list.stop();
      board.stop();
      mail.stop();
      work.stop();
    },
  };
}
