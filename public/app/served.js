/** @typedef {import('./recents.js').Recent} Recent */

/** @type {Promise<{ repositories: Recent[], user: string | null } | null> | undefined} */
let answer;

/** @returns {Promise<Recent[] | null>} What a server on one machine serves; `null` where the server tells nobody. */
export async function servedRepositories() {
  return (await (answer ??= read()))?.repositories ?? null;
}

/** @returns {Promise<string | null>} Whom such a server takes its callers for. */
export async function localUser() {
  return (await (answer ??= read()))?.user ?? null;
}

async function read() {
  try {
    const response = await fetch('served.json', { cache: 'no-store' });
    if (!response.ok) return null;
    const { repositories, user = null } = await response.json();
    return { user, repositories: repositories.map((/** @type {any} */ { repo_url: repoUrl, branch }) => ({ repoUrl, branch: branch ?? 'main' })) };
  } catch {
    return null;
  }
}
