// Reads about teams on demand: a task with its texts, and the tasks about a file.

import { readTask, readTaskDetails } from './tasks.js';

/** Maximum number of teams from which the page reads the tasks of a file. */
const MAX_TEAMS = 8;
/** Maximum number of pages per team: the server bounds the tasks that it searches for one response. */
const MAX_PAGES = 6;

/**
 * @param {object} options
 * @param {import('./api.js').Api} options.api
 * @param {() => import('./types.js').State} options.state
 * @returns {Pick<import('./types.js').Model, 'readTask' | 'tasksOf'>}
 */
export function makeTeamReads({ api, state }) {
  const repository = () => ({ repo_url: state().place.repoUrl ?? '' });

  /** @param {string} team @param {string} file */
  async function tasksOfTeam(team, file) {
    const tasks = [];
    let after = '0';
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { body } = await api.get('api/tasks', { ...repository(), team, file, after });
      tasks.push(...body.tasks.map(readTask));
      if (body.next === undefined) break;
      after = String(body.next);
    }
    return { team, tasks };
  }

  return {
    async readTask(team, id) {
      const { body } = await api.get(`api/tasks/${encodeURIComponent(id)}`, { ...repository(), team });
      return readTaskDetails(body);
    },
    tasksOf(path) {
      const teams = state().teams.list.filter(({ isClosed }) => !isClosed).slice(0, MAX_TEAMS);
      return Promise.all(teams.map(({ name }) => tasksOfTeam(name, path)));
    },
  };
}
