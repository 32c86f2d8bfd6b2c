// JWTs, signed by the secret of a deployment.

import { createHmac } from 'node:crypto';

export const SECRET = 'a secret of the test that is long enough';

/** @param {object} value */
const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * @param {object} [claims] Added to the claims of ada's token, which is valid for an hour, or instead of them.
 * @param {string} [secret]
 */
export function tokenOf(claims = {}, secret = SECRET) {
  const payload = { sub: 'ada', name: 'Ada', aud: 'coord', exp: Math.floor(Date.now() / 1000) + 3600, ...claims };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(payload)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
