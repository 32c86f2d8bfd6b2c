// Requests to our own origin, with the token of the tab. An error becomes a problem that the page can show.

/** @import { Clock } from './clock.js' */
/** @import { Connection, Problem } from './types.js' */

const TIMEOUT_MS = 30_000;
/** The pause before a request is repeated, if the server does not send one. */
const PAUSE_S = 10;
const MIN_RETRY_MS = 5000;

export class ApiError extends Error {
  /** @param {Problem} problem @param {boolean} [isUnanswered] Whether the server sent no response. */
  constructor(problem, isUnanswered = false) {
    super(problem.message);
    this.problem = problem;
    this.isUnanswered = isUnanswered;
  }

  /** Returns the delay before a repetition, or `null`. @param {Connection} connection @param {number} now */
  retryDelay({ phase }, now) {
    const { retryAt } = this.problem;
    const isRetried = this.isUnanswered ? phase === 'live' : retryAt !== null;
    return isRetried ? Math.max(MIN_RETRY_MS, (retryAt ?? 0) - now) : null;
  }
}

/** @type {Record<string, Problem['kind']>} */
const KINDS = { UNKNOWN_REPOSITORY: 'no_repository', UNKNOWN_BRANCH: 'no_branch' };

/**
 * @param {number} status
 * @param {string | undefined} code
 * @param {boolean} isTemporary Whether the server says when to repeat the request.
 * @returns {Problem['kind']}
 */
function kindOf(status, code, isTemporary) {
  if (code !== undefined && code in KINDS) return KINDS[code];
  if (status === 401) return 'sign_in';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'no_repository';
  if (status === 429) return 'rate_limited';
  // The server says when to repeat a request only if its problem is temporary.
  if (status >= 500) return status === 503 && !isTemporary ? 'misconfigured' : 'unavailable';
  return 'invalid';
}

/**
 * @typedef {object} ApiResponse
 * @property {number} status
 * @property {any} body `null` if it has not changed.
 * @property {string | null} etag
 */

/**
 * @typedef {object} Api
 * @property {(path: string, query: Record<string, string>, etag?: string | null) => Promise<ApiResponse>} get
 * @property {(path: string, body: object) => Promise<ApiResponse>} post
 * @property {(path: string, body: object) => Promise<ApiResponse>} patch
 */

/**
 * @param {object} options
 * @param {typeof fetch} options.fetch
 * @param {string} options.base Address of the page. The paths of requests are relative to it.
 * @param {() => string | null} options.token
 * @param {Clock} options.clock
 * @returns {Api}
 */
export function makeApi({ fetch, base, token, clock }) {
  /**
   * @param {string} path
   * @param {RequestInit & { headers: Record<string, string> }} options
   * @returns {Promise<ApiResponse>}
   */
  async function send(path, options) {
    const url = new URL(path, base);
    const credential = token();
    if (credential && url.origin === new URL(base).origin) options.headers.Authorization = `Bearer ${credential}`;
    let response;
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      // A redirect could send the token to another origin.
      response = await fetch(url, { ...options, cache: 'no-store', redirect: 'error', signal });
    } catch {
      throw new ApiError({ kind: 'unavailable', message: 'The server does not answer.', retryAt: null }, true);
    }
    clock.setFromHeader(response.headers.get('Date'));
    const etag = response.headers.get('ETag');
    if (response.status === 304) return { status: 304, body: null, etag };
    const body = await response.json().catch(() => null);
    if (!response.ok || body === null) throw errorOf(response, body, clock.now());
    return { status: response.status, body, etag };
  }

  /** @param {string} method @param {string} path @param {object} body */
  const sendJson = (method, path, body) =>
    send(path, { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

  return {
    get: (path, query, etag) =>
      send(`${path}?${new URLSearchParams(query)}`, { headers: etag ? { 'If-None-Match': etag } : {} }),
    post: (path, body) => sendJson('POST', path, body),
    patch: (path, body) => sendJson('PATCH', path, body),
  };
}

/** @param {Response} response @param {any} body @param {number} now */
function errorOf({ headers, status, ok }, body, now) {
  const retryAfter = headers.get('Retry-After');
  const kind = kindOf(status, body?.error, retryAfter !== null || ok);
  const message = typeof body?.message === 'string' ? body.message : `The server answered with status ${status}.`;
  const isRetried = kind === 'rate_limited' || kind === 'unavailable';
  return new ApiError({ kind, message, retryAt: isRetried ? now + (Number(retryAfter) || PAUSE_S) * 1000 : null });
}

/**
 * @param {string} code The error code of a stream.
 * @param {string} message
 * @param {number | null} retryAt
 * @returns {Problem}
 */
export function problemOfStream(code, message, retryAt) {
  /** @type {Record<string, number>} */
  const statuses = {
    UNAUTHORIZED: 401, FORBIDDEN: 403, FORBIDDEN_REPOSITORY: 403, RATE_LIMITED: 429, INVALID_FIELD: 400,
  };
  return { kind: kindOf(statuses[code] ?? 503, code, true), message, retryAt };
}
