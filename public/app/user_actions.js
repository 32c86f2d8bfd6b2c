// The actions of a user on the page. Each is a request to the API; a command of the terminal does the same.

import { ApiError } from './api.js';
import { isSameName, memberOf, memberOfHolder } from './teams.js';

/** @typedef {import('./team_types.js').Team} Team */

/**
 * @typedef {{ kind: 'release', holder: string, paths: string[] }
 *   | { kind: 'message', team: Team, handle: string }
 *   | { kind: 'assign', team: Team, task: string }
 *   | { kind: 'reopen', team: Team, task: string }} UserAction
 */

/** Quotes an argument for a shell. @param {string} text */
const quote = (text) => (/^[\w./@:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/**
 * @param {UserAction} action
 * @param {string} text The text that the user entered, or the handle of the assignee.
 * @param {string} branch
 * @returns {string}
 */
export function shellCommandOf(action, text, branch) {
  const argument = quote(text || '...');
  switch (action.kind) {
    case 'release': {
      const paths = action.paths.map(quote).join(' ');
      return `coord release --force --branch ${quote(branch)} --reason ${argument} ${paths}`;
    }
    case 'message': return `coord message send --team ${action.team.name} --to ${quote(action.handle)} ${argument}`;
    case 'assign': return `coord task assign --team ${action.team.name} ${quote(action.task)} ${argument}`;
    case 'reopen': return `coord task edit --team ${action.team.name} --clear-lapses ${quote(action.task)}`;
  }
}

/**
 * @param {Team} team
 * @param {string | null} login
 * @returns {import('./team_types.js').Member | null} The member that a user is, apart from the user's agents.
 */
export function memberOfLogin(team, login) {
  return login === null ? null : memberOfHolder(team, login);
}

/** @param {Team} team @param {string | null} login @param {{ createdBy: string }} task @returns {boolean} */
export function mayManageTask(team, login, { createdBy }) {
  const member = memberOfLogin(team, login);
  return member !== null && (isSameName(member.handle, team.leader) || isSameName(member.handle, createdBy));
}

/**
 * @param {Team} team
 * @param {string | null} login
 * @returns {boolean} Whether the user can send a message: as a member, or after joining under the login.
 */
export function maySendMessage(team, login) {
  if (team.closedAt !== null || login === null) return false;
  return memberOfLogin(team, login) !== null || memberOf(team, login) === null;
}

/**
 * @param {object} options
 * @param {import('./api.js').Api} options.api
 * @param {() => { state: import('./types.js').State, head: string | null }} options.current
 * @param {() => string | null} options.login
 * @returns {(action: UserAction, text: string) => Promise<string>} Returns the answer of the server.
 */
export function makeUserActions({ api, current, login }) {
  /** @param {{ team: Team, handle: string }} action @param {string} text @param {{ repo_url: string }} repository */
  async function sendMessage({ team, handle }, text, repository) {
    if (memberOfLogin(team, login()) === null) {
      await api.post(`api/teams/${encodeURIComponent(team.name)}/join`, { ...repository, handle: login() });
    }
    await api.post('api/messages', { ...repository, team: team.name, to: [handle], message: text });
    return `Sent to ${handle}.`;
  }

  return async (action, text) => {
    const { state, head } = current();
    const repository = { repo_url: state.place.repoUrl ?? '' };
    if (action.kind === 'message') return sendMessage(action, text, repository);
    if (action.kind === 'release') {
      const agent_head = head ?? state.graph?.version;
      if (!agent_head) {
        const message = 'The head of the branch is not known yet. Try again in a moment.';
        throw new ApiError({ kind: 'invalid', message, retryAt: null });
      }
      const { branch } = state.place;
      const release = { branch, file_paths: action.paths, status: 'OPEN', force: true, message: text, agent_head };
      const { body } = await api.post('api/post_status', { ...repository, ...release });
      return body.orchestration.reason;
    }
    const change = action.kind === 'assign' ? { assignee: text } : { clear_lapses: true };
    const path = `api/tasks/${encodeURIComponent(action.task)}`;
    await api.patch(path, { ...repository, team: action.team.name, ...change });
    return action.kind === 'assign' ? `Assigned to ${text}.` : 'Anyone may claim it again.';
  };
}
