// Events as the server sends them, for tests.

export const START = 1_795_306_224_000;

/**
 * @param {string} type
 * @param {string} holder `user` or `user/agent`.
 * @param {string[]} files
 * @param {object} [rest] `at`: seconds after the start.
 */
export function lockEvent(type, holder, files, { at = 0, ttl = 300, ...rest } = {}) {
  const [user, agent] = holder.split('/');
  const time = START + at * 1000;
  const granted = type === 'lock_refused' ? {} : { expiry_ms: time + ttl * 1000, expiry: Math.ceil(time / 1000 + ttl), token: time };
  return {
    id: `${time}-0`, type, user, user_name: user, ...(agent && { agent_id: agent }), branch: 'main', status: 'WRITING', message: `${holder} works`,
    files, file_count: files.length, ...granted, time: Math.floor(time / 1000), time_ms: time, ...rest,
  };
}

/**
 * @param {string} holder
 * @param {string} path
 * @param {object} [rest] As of `lockEvent`.
 * @returns {object} An entry of `GET /api/locks`.
 */
export function lockView(holder, path, { at = 0, ttl = 300, status = 'WRITING' } = {}) {
  const [user, agent] = holder.split('/');
  const timestamp = Math.floor(START / 1000 + at);
  return { file_path: path, branch: 'main', user, user_name: user, ...(agent && { agent_id: agent }), status, message: `${holder} works`, timestamp, expiry: Math.ceil(START / 1000 + at + ttl) };
}
