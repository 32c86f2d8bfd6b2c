// The names of the repositories and branches that the user opened last.

const KEY = 'coord.recent';
const MAX_RECENTS = 12;

/** @typedef {{ repoUrl: string, branch: string }} Recent */

/** @param {Storage} [storage] @returns {Recent[]} The newest first. */
export function readRecents(storage = localStorage) {
  try {
    const list = JSON.parse(storage.getItem(KEY) ?? '[]');
    const isRecent = (/** @type {any} */ item) => typeof item?.repoUrl === 'string' && typeof item.branch === 'string';
    return Array.isArray(list) ? list.filter(isRecent).slice(0, MAX_RECENTS) : [];
  } catch {
    return [];
  }
}

/** @param {Recent} recent @param {Storage} [storage] */
export function keepRecent({ repoUrl, branch }, storage = localStorage) {
  const others = readRecents(storage).filter((other) => other.repoUrl !== repoUrl || other.branch !== branch);
  try {
    storage.setItem(KEY, JSON.stringify([{ repoUrl, branch }, ...others].slice(0, MAX_RECENTS)));
  } catch {
    // The storage is full or turned off. The page works without the list.
  }
}
