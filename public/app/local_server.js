// The repositories and the user of a server on one machine, from its `served.json`.

/** @typedef {import('./recents.js').Recent} Recent */
/** @typedef {{ repositories: Recent[], user: string | null }} Served */

/** @type {Promise<Served | null> | undefined} */
let served;

/** @returns {Promise<Recent[] | null>} `null` if the server does not list its repositories. */
export async function servedRepositories() {
  return (await (served ??= readServed()))?.repositories ?? null;
}

/** @returns {Promise<string | null>} The user to whom the server attributes all requests. */
export async function localUser() {
  return (await (served ??= readServed()))?.user ?? null;
}

/** @returns {Promise<Served | null>} */
async function readServed() {
  try {
    const response = await fetch('served.json', { cache: 'no-store' });
    if (!response.ok) return null;
    const { repositories, user = null } = await response.json();
    const recentOf = (/** @type {any} */ { repo_url: repoUrl, branch }) => ({ repoUrl, branch: branch ?? 'main' });
    return { user, repositories: repositories.map(recentOf) };
  } catch {
    return null;
  }
}
