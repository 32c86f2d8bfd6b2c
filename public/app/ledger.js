// The ledger as the page shows it: lines, seal and base. Functions change no argument.

/** @import { Ledger, LedgerFilter, LedgerLine, LedgerPoint } from './types.js' */

/** Maximum number of lines that the page keeps. */
const MAX_LINES = 2000;

/** @returns {LedgerFilter} */
export function noFilter() {
  return { intent: null, file: null };
}

/** @param {LedgerFilter} [filter] @returns {Ledger} Before anything was read. */
export function emptyLedger(filter = noFilter()) {
  return { filter, lines: [], sealed: null, base: null, newest: 0, oldest: 0, hasOlder: false, message: null };
}

/** @param {string} text `COUNT:HASH`. @returns {LedgerPoint | null} */
export function readPoint(text) {
  const [, count, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text ?? '') ?? [];
  return count === undefined ? null : { count: Number(count), hash, text };
}

/** @param {unknown} value @returns {string | null} */
const nonEmptyText = (value) => (typeof value === 'string' && value !== '' ? value : null);

/**
 * @param {string} text A sealed line.
 * @returns {LedgerLine | null} `null` if it is not a sealed line.
 */
export function readLine(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const seq = value?.chain?.seq;
  if (!Number.isSafeInteger(seq)) return null;
  const { payload = {}, result = {}, metadata = {} } = value;
  const targets = Array.isArray(payload.target_files) ? payload.target_files : [];
  const at = Date.parse(value.timestamp);
  return {
    seq,
    hash: nonEmptyText(value.chain.hash) ?? '',
    at: Number.isNaN(at) ? 0 : at,
    holder: nonEmptyText(value.agent_id) ?? '',
    intentId: nonEmptyText(value.intent_id),
    state: nonEmptyText(value.state) ?? '',
    action: nonEmptyText(value.action_type) ?? '',
    tool: nonEmptyText(payload.tool_name),
    files: targets.filter((/** @type {unknown} */ path) => typeof path === 'string'),
    content: nonEmptyText(payload.hash),
    reasoning: nonEmptyText(payload.reasoning),
    status: nonEmptyText(result.status) ?? '',
    summary: nonEmptyText(result.output_summary),
    error: nonEmptyText(result.error_message),
    model: nonEmptyText(metadata.contributor),
    text,
  };
}

/**
 * @param {Ledger} ledger
 * @param {any} body Of `GET /api/ledger`.
 * @param {LedgerLine[]} added
 * @returns {Ledger}
 */
function withLines(ledger, body, added) {
  const sealed = readPoint(body.sealed) ?? ledger.sealed;
  const base = readPoint(body.base) ?? ledger.base;
  const seqs = new Set(ledger.lines.map(({ seq }) => seq));
  const merged = [...added.filter(({ seq }) => !seqs.has(seq)), ...ledger.lines];
  // Leaves out lines that the server has dropped since.
  const lines = merged.filter(({ seq }) => seq > (base?.count ?? 0)).sort((a, b) => b.seq - a.seq);
  return { ...ledger, lines, sealed, base, message: null };
}

/** @param {any} body @returns {LedgerLine[]} */
function linesOf(body) {
  return body.lines.map(readLine).filter((/** @type {LedgerLine | null} */ line) => line !== null);
}

/** @param {Ledger} ledger @param {number} newest @param {number} oldest @returns {Ledger} */
function withRange(ledger, newest, oldest) {
  const hasOlder = oldest > (ledger.base?.count ?? 0) && ledger.lines.length < MAX_LINES;
  return { ...ledger, newest, oldest, hasOlder };
}

/** @param {LedgerFilter} filter @param {any} body The newest lines. @returns {Ledger} */
export function startLedger(filter, body) {
  const ledger = withLines(emptyLedger(filter), body, linesOf(body));
  const count = ledger.sealed?.count ?? 0;
  const lastLine = ledger.lines.at(-1);
  return withRange(ledger, count, lastLine ? lastLine.seq - 1 : count);
}

/** @param {Ledger} ledger @param {any} body The lines after `newest`. @returns {Ledger} */
export function addNewerLines(ledger, body) {
  const next = withLines(ledger, body, linesOf(body));
  const lines = next.lines.slice(0, MAX_LINES);
  return withRange({ ...next, lines }, body.next ?? next.sealed?.count ?? ledger.newest, ledger.oldest);
}

/**
 * @param {Ledger} ledger
 * @param {any[]} bodies The lines between `from` and `oldest`.
 * @param {number} from
 * @returns {Ledger}
 */
export function addOlderLines(ledger, bodies, from) {
  let next = ledger;
  for (const body of bodies) next = withLines(next, body, linesOf(body).filter(({ seq }) => seq <= ledger.oldest));
  return withRange(next, ledger.newest, from);
}
