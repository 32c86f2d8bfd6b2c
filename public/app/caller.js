// The caller whom the page acts for, as far as the page knows. The server decides.

import { localUser } from './local_server.js';

/**
 * @typedef {object} Caller
 * @property {string | null} login `null` if the token does not contain one.
 * @property {string} name The name to show.
 */

/** @param {string | null} token @returns {Caller | null} */
export function callerOfToken(token) {
  if (token === null) return null;
  const unknown = { login: null, name: 'the owner of your token' };
  const [, claims] = token.split('.');
  if (!claims) return unknown;
  try {
    const base64 = claims.replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const { sub } = JSON.parse(new TextDecoder().decode(bytes));
    return typeof sub === 'string' && sub ? { login: sub, name: sub } : unknown;
  } catch {
    return unknown;
  }
}

/** @param {string | null} token @returns {Promise<Caller | null>} `null` for a caller that may only read. */
export async function callerOf(token) {
  const user = await localUser();
  return callerOfToken(token) ?? (user === null ? null : { login: user, name: user });
}
