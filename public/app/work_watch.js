// Reads what a team works on while its board is not on the screen: its members, and the tasks in progress.

import { isBoard } from './address.js';
import { makeOptionalRead } from './optional_read.js';
import { readTask } from './tasks.js';
import { chosenTeam, readTeam } from './teams.js';

/** Before a read that several events want. */
const DEBOUNCE_MS = 1000;
/** Tasks that are looked at. */
const MOST = 100;

/** @param {import('./optional_read.js').Part} part */
export function watchWork(part) {
  const { repoUrl, api, state, dispatch } = part;

  /** @returns {string | null} */
  function wanted() {
    const { teams, place } = state();
    if (teams.phase !== 'shown' || isBoard(place)) return null;
    const name = chosenTeam(teams, place.team);
    return teams.list.find((team) => team.name === name && !team.isClosed)?.name ?? null;
  }

  /** @param {import('./team_types.js').Work | null} work */
  function tell(work) {
    if (!reads.isStopped() && state().work !== work) dispatch({ type: 'work', work });
  }

  const reads = makeOptionalRead(part, {
    async ask() {
      const name = wanted();
      if (name === null) {
        tell(null);
        return;
      }
      const [tasks, team] = await Promise.all([
        api.get('api/tasks', { repo_url: repoUrl, team: name, status: 'in_progress', limit: String(MOST) }),
        api.get(`api/teams/${encodeURIComponent(name)}`, { repo_url: repoUrl }),
      ]);
      tell({ name, team: readTeam(team.body), tasks: tasks.body.tasks.map(readTask) });
    },
    fail: () => tell(null),
  });

  return {
    /** Another team, or another view. */
    follow() {
      if (wanted() !== (state().work?.name ?? null)) reads.read();
    },
    /** @param {any[]} events About teams. */
    heard(events) {
      if (wanted() !== null && events.some(({ type }) => type.startsWith('task_') || type === 'team_changed')) reads.readSoon(DEBOUNCE_MS);
    },
    stop: reads.stop,
  };
}
