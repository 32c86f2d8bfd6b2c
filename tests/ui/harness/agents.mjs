// Agents that act through the API.

/**
 * @typedef {object} ApiResponse
 * @property {number} status
 * @property {any} body
 * @property {number} answeredAt When the answer came: milliseconds since 1970.
 */

/**
 * @typedef {object} Agent
 * @property {string} holder
 * @property {(files: string | string[], message: string, change?: object) => Promise<ApiResponse>} write
 * @property {(files: string | string[], message: string, change?: object) => Promise<ApiResponse>} read
 * @property {(files: string | string[], change?: object) => Promise<ApiResponse>} release Abandons the work by default.
 * @property {(files: string | string[], change?: object) => Promise<ApiResponse>} check
 */

/**
 * @param {{ url: string }} server
 * @param {{ repoUrl: string, head: () => string }} repository
 * @param {string} user
 * @param {string} [agentId]
 * @param {{ token?: string, branch?: string }} [options] With a token, its subject is the caller.
 * @returns {Agent}
 */
export function agentOf(server, repository, user, agentId, { token, branch = 'main' } = {}) {
  const headers = { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : { 'X-Coord-User': user }) };
  /** @param {string} path @param {string | string[]} files @param {object} fields */
  async function send(path, files, fields) {
    const body = { repo_url: repository.repoUrl, branch, file_paths: [files].flat(), agent_id: agentId, agent_head: repository.head(), ...fields };
    const response = await fetch(new URL(path, server.url), { method: 'POST', headers, body: JSON.stringify(body) });
    const answeredAt = Date.now();
    return { status: response.status, body: await response.json(), answeredAt };
  }
  return {
    holder: agentId ? `${user}/${agentId}` : user,
    write: (files, message, change) => send('api/post_status', files, { status: 'WRITING', message, ...change }),
    read: (files, message, change) => send('api/post_status', files, { status: 'READING', message, ...change }),
    release: (files, change) => send('api/post_status', files, { status: 'OPEN', message: 'Done', abandon: true, ...change }),
    check: (files, change) => send('api/check_status', files, change ?? {}),
  };
}
