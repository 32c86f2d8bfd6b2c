// Intents and lines of the ledger as the server sends them, for tests.

import { START } from './events.mjs';

/** @param {string} id @param {object} [rest] */
export const intentView = (id, rest = {}) => ({ id, name: '', description: '', status: 'IN_PROGRESS', constraints: [], owned_scope: [], acceptance_criteria: [], owned_files: 0, ...rest });

/** An answer of `GET /api/intents?view=state`: two intents that own `a` and `b`, and a lock on another branch. */
export function intentsBody() {
  return {
    state: 'REQUEST',
    intents: [
      intentView('ONE', {
        name: 'The first', acceptance_criteria: ['Tests pass', 'It is documented'], criteria: [{ criterion: 'Tests pass', by: 'ada', at: 'then', evidence: 'npm test' }],
        budget: { max_turns: 10, consumed_turns: 3, consumed_tokens: 500 }, last_heard: START / 1000, owned_files: 2,
      }),
      intentView('TWO', { status: 'PENDING' }),
    ],
    owners: { b: ['ONE', 'TWO'], a: ['ONE'] },
    locks: [
      { file_path: 'x', branch: 'next', user: 'cyd', user_name: 'Cyd', agent_id: 'two', status: 'WRITING', expiry: START / 1000 + 300, intent_id: 'ONE' },
      { file_path: 'y', branch: 'next', user: 'dee', user_name: 'Dee', status: 'WRITING', expiry: START / 1000 + 300 },
    ],
  };
}

/** A hash of 64 digits that ends with a number. @param {number} number */
export const hashOf = (number) => String(number).padStart(64, 'a');

/** @param {number} seq @param {object} [rest] @returns {string} A sealed line. */
export function ledgerLine(seq, rest = {}) {
  const line = {
    timestamp: '2026-11-22T09:01:12.345Z', agent_id: 'ada/claude-1', intent_id: 'ONE', state: 'ACTION', action_type: 'TOOL_EXECUTION',
    payload: { tool_name: 'Write', target_files: ['a'], hash: 'sha256:ab' }, result: { status: 'SUCCESS', output_summary: `Wrote ${seq}` },
    metadata: { session_id: 's', contributor: 'a model' }, trace_id: `t-${seq}`, ...rest,
  };
  return JSON.stringify({ ...line, chain: { seq, prev: hashOf(seq - 1), hash: hashOf(seq) } });
}

/**
 * An answer of `GET /api/ledger`.
 * @param {number[]} seqs
 * @param {{ sealed?: number, base?: number, next?: number }} [rest]
 */
export function ledgerPage(seqs, { sealed = seqs.at(-1) ?? 0, base = 0, next } = {}) {
  return { lines: seqs.map((seq) => ledgerLine(seq)), sealed: `${sealed}:${hashOf(sealed)}`, base: `${base}:${hashOf(base)}`, ...(next && { next }) };
}

/** @param {number} from @param {number} to @returns {number[]} Both included. */
export const range = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
