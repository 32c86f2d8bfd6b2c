// JWTs, as a deployment's own secret signs them.

import { createHmac } from 'node:crypto';

export const SECRET = 'a secret of the test that is long enough';

/** @param {object} value */
const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * @param {object} [claims] Beside or in place of those of ada, for an hour.
 * @param {string} [secret]
 */
export function tokenOf(claims = {}, secret = SECRET) {
  const whole = { sub: 'ada', name: 'Ada', aud: 'coord', exp: Math.floor(Date.now() / 1000) + 3600, ...claims };
  const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(whole)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
