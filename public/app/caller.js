// Who acts from this page, as far as it is known here; the server decides.

import { localUser } from './served.js';

/**
 * @typedef {object} Caller
 * @property {string | null} login None for a token that does not say it.
 * @property {string} name What to call them.
 */

/** @param {string | null} token @returns {Caller | null} */
export function callerOfToken(token) {
  if (token === null) return null;
  const unknown = { login: null, name: 'the owner of your token' };
  const [, claims] = token.split('.');
  if (!claims) return unknown;
  try {
    const bytes = Uint8Array.from(atob(claims.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
    const { sub } = JSON.parse(new TextDecoder().decode(bytes));
    return typeof sub === 'string' && sub ? { login: sub, name: sub } : unknown;
  } catch {
    return unknown;
  }
}

/** @param {string | null} token @returns {Promise<Caller | null>} None who may only look. */
export async function callerOf(token) {
  const user = await localUser();
  return callerOfToken(token) ?? (user === null ? null : { login: user, name: user });
}
