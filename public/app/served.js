/** @typedef {import('./recents.js').Recent} Recent */

/** @type {Promise<Recent[] | null> | undefined} */
let list;

/** @returns {Promise<Recent[] | null>} What a server on one machine serves; `null` where the server tells nobody. */
export function servedRepositories() {
  list ??= read();
  return list;
}

async function read() {
  try {
    const response = await fetch('served.json', { cache: 'no-store' });
    if (!response.ok) return null;
    const { repositories } = await response.json();
    return repositories.map((/** @type {any} */ { repo_url: repoUrl, branch }) => ({ repoUrl, branch: branch ?? 'main' }));
  } catch {
    return null;
  }
}
