// The token of this tab. Only the session storage of the tab has it, and the page sends it only to its own origin.

const KEY = 'coord.token';

/**
 * @typedef {object} Session
 * @property {() => string | null} token
 * @property {(token: string | null) => void} keep
 */

/**
 * @param {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null} storage `null` if `sessionStorage` is turned off.
 * @returns {Session}
 */
export function makeSession(storage) {
  /** @type {string | null} */
  let token = null;
  try {
    token = storage?.getItem(KEY) ?? null;
  } catch {
    // The browser forbids storage: the token lasts as long as the page.
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
