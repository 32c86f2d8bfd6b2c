// The token of this tab. It is in the session storage of the tab alone, and `api.js` and `stream.js` send it to our own origin alone.

const KEY = 'coord.token';

/**
 * @typedef {object} Session
 * @property {() => string | null} token
 * @property {(token: string | null) => void} keep
 */

/**
 * @param {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null} storage `sessionStorage`, or none where it is turned off.
 * @returns {Session}
 */
export function makeSession(storage) {
  /** @type {string | null} */
  let token = null;
  try {
    token = storage?.getItem(KEY) ?? null;
  } catch {
    // A browser that forbids storage: the token lasts as long as the page.
  }
  return {
    token: () => token,
    keep(next) {
      token = next;
      try {
        if (next === null) storage?.removeItem(KEY);
        else storage?.setItem(KEY, next);
      } catch {
        // As above.
      }
    },
  };
}
