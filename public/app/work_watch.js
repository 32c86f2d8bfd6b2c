// Reads the members of a team and its tasks in progress while its board is not on the screen.

import { isBoard } from './address.js';
import { makeOptionalRead } from './optional_read.js';
import { readTask } from './tasks.js';
import { readTeam, selectTeam } from './teams.js';

/** Delay of a read, so that several events cause one. */
const DEBOUNCE_MS = 1000;
/** Maximum number of tasks to read. */
const MAX_TASKS = 100;

/** @param {import('./optional_read.js').WatchContext} context */
export function watchWork(context) {
  const { repoUrl, api, state, dispatch } = context;

  /** @returns {string | null} `null` if the page needs no work of a team. */
  function selectedTeam() {
    const { teams, place } = state();
    if (teams.phase !== 'shown' || isBoard(place)) return null;
    const name = selectTeam(teams, place.team);
    return teams.list.find((team) => team.name === name && !team.isClosed)?.name ?? null;
  }

  /** @param {import('./team_types.js').Work | null} work */
  function setWork(work) {
    if (!reads.isStopped() && state().work !== work) dispatch({ type: 'work', work });
  }

  const reads = makeOptionalRead(context, {
    async load() {
      const name = selectedTeam();
      if (name === null) {
        setWork(null);
        return;
      }
      const [tasks, team] = await Promise.all([
        api.get('api/tasks', { repo_url: repoUrl, team: name, status: 'in_progress', limit: String(MAX_TASKS) }),
        api.get(`api/teams/${encodeURIComponent(name)}`, { repo_url: repoUrl }),
      ]);
      setWork({ name, team: readTeam(team.body), tasks: tasks.body.tasks.map(readTask) });
    },
    onFailure: () => setWork(null),
  });

  return {
    /** Reads if another team or another view is selected. */
    syncSelection() {
      if (selectedTeam() !== (state().work?.name ?? null)) reads.read();
    },
    /** @param {any[]} events About teams. */
    onEvents(events) {
      const isChanged = events.some(({ type }) => type.startsWith('task_') || type === 'team_changed');
      if (isChanged && selectedTeam() !== null) reads.readSoon(DEBOUNCE_MS);
    },
    stop: reads.stop,
  };
}
