// What a person does from the page: each is a request of the API, and a command of the terminal that does the same.

import { ApiError } from './api.js';
import { memberOfHolder } from './members.js';
import { isSameName, memberOf } from './teams.js';

/**
 * @typedef {{ kind: 'release', holder: string, paths: string[] }
 *   | { kind: 'message', team: import('./team_types.js').Team, handle: string }
 *   | { kind: 'assign', team: import('./team_types.js').Team, task: string }
 *   | { kind: 'reopen', team: import('./team_types.js').Team, task: string }} Act
 */

/** @param {string} text */
const quoted = (text) => (/^[\w./@:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** @param {Act} act @param {string} text What was written, or whom it is assigned to. @param {string} branch @returns {string} */
export function commandOf(act, text, branch) {
  switch (act.kind) {
    case 'release': return `coord release --force --branch ${quoted(branch)} --reason ${quoted(text || '...')} ${act.paths.map(quoted).join(' ')}`;
    case 'message': return `coord message send --team ${act.team.name} --to ${quoted(act.handle)} ${quoted(text || '...')}`;
    case 'assign': return `coord task assign --team ${act.team.name} ${quoted(act.task)} ${quoted(text || '...')}`;
    case 'reopen': return `coord task edit --team ${act.team.name} --clear-lapses ${quoted(act.task)}`;
  }
}

/**
 * @param {import('./team_types.js').Team} team
 * @param {string | null} login
 * @returns {import('./team_types.js').Member | null} The member that a person is, and no agent of theirs.
 */
export function ownMember(team, login) {
  return login === null ? null : memberOfHolder(team, login);
}

/** @param {import('./team_types.js').Team} team @param {string | null} login @param {{ createdBy: string }} task @returns {boolean} */
export function mayManage(team, login, { createdBy }) {
  const own = ownMember(team, login);
  return own !== null && (isSameName(own.handle, team.leader) || isSameName(own.handle, createdBy));
}

/** @param {import('./team_types.js').Team} team @param {string | null} login @returns {boolean} Whether a message can be sent: as a member, or after joining under the login. */
export function mayWrite(team, login) {
  return team.closedAt === null && login !== null && (ownMember(team, login) !== null || memberOf(team, login) === null);
}

/**
 * @param {object} options
 * @param {import('./api.js').Api} options.api
 * @param {() => { state: import('./types.js').State, head: string | null }} options.whole
 * @param {() => string | null} options.login
 * @returns {(act: Act, text: string) => Promise<string>} What the server says.
 */
export function makeActs({ api, whole, login }) {
  /** @param {Extract<Act, { kind: 'message' }>} act @param {string} text @param {{ repo_url: string }} repository */
  async function message({ team, handle }, text, repository) {
    if (ownMember(team, login()) === null) await api.post(`api/teams/${encodeURIComponent(team.name)}/join`, { ...repository, handle: login() });
    await api.post('api/messages', { ...repository, team: team.name, to: [handle], message: text });
    return `Sent to ${handle}.`;
  }

  return async (act, text) => {
    const { state, head } = whole();
    const repository = { repo_url: state.place.repoUrl ?? '' };
    if (act.kind === 'message') return message(act, text, repository);
    if (act.kind === 'release') {
      const agent_head = head ?? state.graph?.version;
      if (!agent_head) throw new ApiError({ kind: 'invalid', message: 'The head of the branch is not known yet. Try again in a moment.', retryAt: null });
      const { body } = await api.post('api/post_status', { ...repository, branch: state.place.branch, file_paths: act.paths, status: 'OPEN', force: true, message: text, agent_head });
      return body.orchestration.reason;
    }
    const change = act.kind === 'assign' ? { assignee: text } : { clear_lapses: true };
    await api.patch(`api/tasks/${encodeURIComponent(act.task)}`, { ...repository, team: act.team.name, ...change });
    return act.kind === 'assign' ? `Assigned to ${text}.` : 'Anyone may claim it again.';
  };
}
