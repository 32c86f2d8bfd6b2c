// The repositories and branches that were opened last, as names only.

const KEY = 'coord.recent';
const MOST = 12;

/** @typedef {{ repoUrl: string, branch: string }} Recent */

/**
 * @param {Storage} [storage]
 * @returns {Recent[]} The newest first.
 */
export function readRecents(storage = localStorage) {
  try {
    const list = JSON.parse(storage.getItem(KEY) ?? '[]');
    const isRecent = (/** @type {any} */ item) => typeof item?.repoUrl === 'string' && typeof item.branch === 'string';
    return Array.isArray(list) ? list.filter(isRecent).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

/**
 * @param {Recent} recent
 * @param {Storage} [storage]
 */
export function keepRecent({ repoUrl, branch }, storage = localStorage) {
  const others = readRecents(storage).filter((other) => other.repoUrl !== repoUrl || other.branch !== branch);
  try {
    storage.setItem(KEY, JSON.stringify([{ repoUrl, branch }, ...others].slice(0, MOST)));
  } catch {
    // Storage that is full or turned off: the list is a convenience.
  }
}
