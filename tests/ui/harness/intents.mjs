// Intents and a ledger in the form of the server: responses to these routes are simulated, and events are added to the stream of a real
// server.

import { createHash } from 'node:crypto';

export const POOL = '018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10';
const HASH = (/** @type {string | number} */ text) => createHash('sha256').update(String(text)).digest('hex');
/** The response for a repository without intents. */
const NO_INTENTS = { intents: [], state: 'REQUEST', owners: {}, locks: [] };

/** @param {string} id @param {object} change */
const intent = (id, change) => ({ id, name: '', description: '', status: 'PENDING', constraints: [], owned_scope: [], acceptance_criteria: [], owned_files: 0, ...change });

/** The intents of a repository at work: in progress with little left, blocked, not begun, without a name, ended. */
export function someIntents() {
  const seconds = Math.floor(Date.now() / 1000);
  return {
    intents: [
      intent('INT-001', {
        name: 'Passwords of twelve characters', description: 'Longer passwords.', status: 'COMPLETED', owned_scope: ['src/auth/**'], acceptance_criteria: ['Tests pass'],
        criteria: [{ criterion: 'Tests pass', by: 'ada', at: '2026-11-22T08:00:00Z', evidence: 'npm test: 120 passed' }], last_heard: seconds - 86_400,
      }),
      intent(POOL, {
        name: 'Connection pooling', description: 'Queries share a pool; query() becomes async.', status: 'IN_PROGRESS', constraints: ['No new dependency'],
        owned_scope: ['src/auth/**', 'src/money.ts', 'app/[tenant]/page.tsx'], acceptance_criteria: ['Tests in tests/db pass', 'No query holds a connection for over a second', 'The pool is documented'],
        criteria: [{ criterion: 'Tests in tests/db pass', by: 'ada/claude-1', at: '2026-11-22T09:00:00Z', evidence: 'npm test: 214 passed' }],
        budget: { max_turns: 50, max_tokens: 400_000, consumed_turns: 12, consumed_tokens: 345_678 }, assigned_agent: 'anthropic/claude-opus-4-5', last_heard: seconds - 40, owned_files: 3,
      }),
      intent('REQ-CATALOG-007', {
        name: 'Search by several words at once, whatever their order, and with the words that were mistyped', status: 'BLOCKED', owned_scope: ['src/catalog/**'],
        acceptance_criteria: ['Two words in any order find the product', 'A typing error of one letter is forgiven'], reason: 'The budget is spent: 30 of 30 turns.',
        budget: { max_turns: 30, consumed_turns: 30, consumed_tokens: 51_000 }, last_heard: seconds - 400, branch: 'feature/search-by-several-words', owned_files: 1,
      }),
      intent('INT-003', { name: 'Pages of the documentation', status: 'PENDING', owned_scope: ['docs/**'], acceptance_criteria: ['Links work'], supplements: POOL }),
      intent('test-intent-1', { missing: ['name', 'description', 'owned_scope', 'acceptance_criteria'] }),
      intent('INT-002', { name: 'Another framework', status: 'ABANDONED', reason: 'Too much for what it brings.' }),
    ],
    state: 'REQUEST',
    owners: { 'src/auth/login.ts': [POOL], 'src/auth/password.ts': [POOL], 'src/money.ts': [POOL], 'src/catalog/search.ts': ['REQ-CATALOG-007'] },
    locks: [{ file_path: 'src/catalog/search.ts', branch: 'feature/search-by-several-words', user: 'grace', user_name: 'Grace', agent_id: 'codex-2', status: 'WRITING', message: 'Searching', timestamp: seconds - 30, expiry: seconds + 270, intent_id: 'REQ-CATALOG-007' }],
  };
}

/** @param {number} seq @param {object} change @returns {string} A line of the ledger. */
export function lineOf(seq, change) {
  const line = {
    timestamp: new Date(Date.UTC(2026, 10, 22, 9, 0, seq)).toISOString(), agent_id: 'ada/claude-1', intent_id: POOL, state: 'ACTION', action_type: 'TOOL_EXECUTION',
    payload: { tool_name: 'Edit', target_files: ['src/auth/login.ts'], hash: `sha256:${HASH(`content ${seq}`)}` }, result: { status: 'SUCCESS', output_summary: `Edit ${seq} of src/auth/login.ts` },
    metadata: { session_id: 's-7', contributor: 'anthropic/claude-opus-4-5' }, trace_id: `t-${seq}`, ...change,
  };
  return JSON.stringify({ ...line, chain: { seq, prev: HASH(seq - 1), hash: HASH(seq) } });
}

/** @param {number} count @returns {string[]} Lines of every kind, each after the other. */
export function someLines(count) {
  const kinds = [
    {},
    { action_type: 'SCOPE_VIOLATION', payload: { tool_name: 'Edit', target_files: ['docs/api.md'] }, result: { status: 'DENIED', output_summary: 'Outside owned_scope', error_message: `Scope Violation: ${POOL} is not authorized to edit 'docs/api.md'. Request scope expansion.` } },
    { action_type: 'INTENT_SELECTION', state: 'REASONING', payload: { tool_name: 'select_active_intent' }, result: { status: 'SUCCESS', output_summary: 'Selected: Connection pooling' } },
    { agent_id: 'linus/cursor', intent_id: null, payload: { tool_name: 'Write', target_files: ['src/payment/charge.ts'], hash: `sha256:${HASH('charge')}` }, result: { status: 'FAILURE', output_summary: '', error_message: 'The file was changed without its lock.' } },
    { agent_id: 'grace/codex-2', intent_id: 'REQ-CATALOG-007', action_type: 'BUDGET_EXHAUSTED', payload: {}, result: { status: 'DENIED', output_summary: '30 of 30 turns' } },
    { agent_id: 'grace', intent_id: 'REQ-CATALOG-007', action_type: 'STATE_TRANSITION', payload: { reasoning: 'Wants a person.' }, result: { status: 'SUCCESS', output_summary: 'IN_PROGRESS -> BLOCKED' } },
  ];
  return Array.from({ length: count }, (_, index) => lineOf(index + 1, kinds[index % kinds.length]));
}

/**
 * The ledger behind `GET /api/ledger`.
 * @param {string[]} lines All sealed lines.
 * @param {number} [base] The number of lines that the server has dropped.
 */
export function ledgerOf(lines, base = 0) {
  const point = (/** @type {number} */ seq) => `${seq}:${HASH(seq)}`;
  return (/** @type {URLSearchParams} */ query) => {
    const [intent, file] = [query.get('intent'), query.get('file')];
    const kept = lines.map((text) => ({ text, value: JSON.parse(text) })).filter(({ value }) => value.chain.seq > base)
      .filter(({ value }) => (!intent || value.intent_id === intent) && (!file || (value.payload.target_files ?? []).includes(file)));
    const [last, after, limit] = ['last', 'after', 'limit'].map((name) => Number(query.get(name) ?? NaN));
    const rest = kept.filter(({ value }) => value.chain.seq > (after || 0));
    const page = last ? kept.slice(-last) : rest.slice(0, limit);
    const isMore = !last && rest.length > page.length;
    return { lines: page.map(({ text }) => text), ...(isMore && { next: page[page.length - 1].value.chain.seq }), sealed: point(lines.length), base: point(base) };
  };
}

/**
 * Simulates the responses about intents and the ledger.
 * @param {import('playwright-core').BrowserContext} context
 * @param {{ intents?: object, ledger?: (query: URLSearchParams) => object, status?: number }} [answers] May be changed while the page is open.
 */
export async function playIntents(context, answers = {}) {
  /** @type {string[]} Paths of all requests, with their queries. */
  const requests = [];
  /** @type {import('playwright-core').WebSocketRoute | null} */
  let stream = null;
  let last = 0;
  /** @param {import('playwright-core').Route} route @param {() => object} answer */
  const fulfill = (route, answer) => {
    const { pathname, search } = new URL(route.request().url());
    requests.push(pathname + search);
    const { status = 200 } = answers;
    const refused = { error: status === 404 ? 'UNKNOWN_ROUTE' : 'UNAUTHORIZED', message: status === 404 ? 'there is no such route' : 'send a token in Authorization' };
    return route.fulfill({ status, json: status === 200 ? answer() : refused });
  };
  await context.route(/\/api\/intents\?/, (route) => fulfill(route, () => answers.intents ?? NO_INTENTS));
  await context.route(/\/api\/ledger\?/, (route) => fulfill(route, () => (answers.ledger ?? ledgerOf([]))(new URL(route.request().url()).searchParams)));
  await context.routeWebSocket(/\/api\/events/, (socket) => {
    stream = socket;
    socket.connectToServer();
  });
  return {
    requests,
    answers,
    /** Sends an event that happens now. @param {object} event */
    emit(event) {
      last = Math.max(Date.now(), last + 1);
      stream?.send(JSON.stringify({ id: `${last}-0`, time: Math.floor(last / 1000), time_ms: last, ...event }));
    },
  };
}

/** @param {string} holder @param {string} code @param {string[]} files @param {object} [rest] @returns {object} A refusal by an intent. */
export function refusal(holder, code, files, rest = {}) {
  const [user, agent] = holder.split('/');
  return {
    type: 'lock_refused', user, user_name: user, ...(agent && { agent_id: agent }), branch: 'main', status: 'WRITING', message: 'Working on it', reason: 'INTENT', code,
    files, file_count: files.length, conflicts: files, conflict_count: files.length, action: 'STOP', ...rest,
  };
}

/** @param {string} holder @param {string} id @param {string[]} files @returns {object} A claim for an intent. */
export function grant(holder, id, files) {
  const [user, agent] = holder.split('/');
  const expiry = Date.now() + 300_000;
  return {
    type: 'lock_granted', user, user_name: user, ...(agent && { agent_id: agent }), branch: 'main', status: 'WRITING', message: 'Working on it', files, file_count: files.length,
    expiry: Math.ceil(expiry / 1000), expiry_ms: expiry, token: 7, action: 'PROCEED', intent_id: id,
  };
}
