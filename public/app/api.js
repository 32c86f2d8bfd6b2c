// Requests to our own origin, with the token of the tab, and errors that say what to do.

/** @typedef {import('./types.js').Problem} Problem */
/** @typedef {import('./clock.js').Clock} Clock */

/** When a request counts as failed. */
const PATIENCE_MS = 30_000;
/** The pause before a request is sent again, where the server names none. */
const PAUSE_S = 10;

/** A request that failed: `problem` is for the page. */
export class ApiError extends Error {
  /**
   * @param {Problem} problem
   * @param {boolean} [isUnanswered] Whether no answer came.
   */
  constructor(problem, isUnanswered = false) {
    super(problem.message);
    this.problem = problem;
    this.isUnanswered = isUnanswered;
  }
}

/** @type {Record<string, Problem['kind']>} */
const KINDS = { UNKNOWN_REPOSITORY: 'no_repository', UNKNOWN_BRANCH: 'no_branch' };

/**
 * @param {number} status
 * @param {string | undefined} code
 * @param {boolean} isTemporary Whether the server says when to ask again.
 * @returns {Problem['kind']}
 */
function kindOf(status, code, isTemporary) {
  if (code !== undefined && code in KINDS) return KINDS[code];
  if (status === 401) return 'sign_in';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'no_repository';
  if (status === 429) return 'rate_limited';
  // Whatever passes by itself says when to ask again.
  if (status >= 500) return status === 503 && !isTemporary ? 'misconfigured' : 'unavailable';
  return 'invalid';
}

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {any} body `null` where it has not changed.
 * @property {string | null} etag
 */

/**
 * @typedef {object} Api
 * @property {(path: string, query: Record<string, string>, etag?: string | null) => Promise<Answer>} get
 * @property {(path: string, body: object) => Promise<Answer>} post
 * @property {(path: string, body: object) => Promise<Answer>} patch
 */

/**
 * @param {object} options
 * @param {typeof fetch} options.fetch
 * @param {string} options.base Address of the page: requests go to paths beside it, on its origin.
 * @param {() => string | null} options.token
 * @param {Clock} options.clock
 * @returns {Api}
 */
export function makeApi({ fetch, base, token, clock }) {
  /**
   * @param {string} path
   * @param {RequestInit & { headers: Record<string, string> }} options
   * @returns {Promise<Answer>}
   */
  async function send(path, options) {
    const url = new URL(path, base);
    const credential = token();
    if (credential && url.origin === new URL(base).origin) options.headers.Authorization = `Bearer ${credential}`;
    let response;
    try {
      // A redirect could lead the token elsewhere.
      response = await fetch(url, { ...options, cache: 'no-store', redirect: 'error', signal: AbortSignal.timeout(PATIENCE_MS) });
    } catch {
      throw new ApiError({ kind: 'unavailable', message: 'The server does not answer.', retryAt: null }, true);
    }
    clock.heardDate(response.headers.get('Date'));
    if (response.status === 304) return { status: 304, body: null, etag: response.headers.get('ETag') };
    const body = await response.json().catch(() => null);
    if (!response.ok || body === null) throw failure(response, body, clock.now());
    return { status: response.status, body, etag: response.headers.get('ETag') };
  }

  /** @param {string} method @param {object} body */
  const withBody = (method, body) => ({ method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

  return {
    get: (path, query, etag) => send(`${path}?${new URLSearchParams(query)}`, { headers: etag ? { 'If-None-Match': etag } : {} }),
    post: (path, body) => send(path, withBody('POST', body)),
    patch: (path, body) => send(path, withBody('PATCH', body)),
  };
}

/**
 * @param {Response} response
 * @param {any} body
 * @param {number} now
 */
function failure(response, body, now) {
  const after = response.headers.get('Retry-After');
  const kind = kindOf(response.status, body?.error, after !== null || response.ok);
  const message = typeof body?.message === 'string' ? body.message : `The server answered with status ${response.status}.`;
  const isAgain = kind === 'rate_limited' || kind === 'unavailable';
  return new ApiError({ kind, message, retryAt: isAgain ? now + (Number(after) || PAUSE_S) * 1000 : null });
}

/**
 * @param {string} code The code that a stream refuses with.
 * @param {string} message
 * @param {number | null} retryAt
 * @returns {Problem}
 */
export function problemOfStream(code, message, retryAt) {
  /** @type {Record<string, number>} */
  const statuses = { UNAUTHORIZED: 401, FORBIDDEN: 403, FORBIDDEN_REPOSITORY: 403, RATE_LIMITED: 429, INVALID_FIELD: 400 };
  return { kind: kindOf(statuses[code] ?? 503, code, true), message, retryAt };
}
