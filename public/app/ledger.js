// The ledger as the page shows it: lines, seal and base. Functions change no argument.

/** @import { Ledger, LedgerFilter, LedgerLine, LedgerPoint } from './types.js' */

/** Maximum number of lines that the page keeps. */
const MAX_LINES = 2000;

/** @returns {LedgerFilter} */
export function noFilter() {
  return { intent: null, file: null };
}

/** @param {LedgerFilter} [filter] @returns {Ledger} Before anything was read. */
export function unreadLedger(filter = noFilter()) {
  return { filter, lines: [], sealed: null, base: null, newest: 0, oldest: 0, hasOlder: false, message: null };
}

/** @param {string} text `COUNT:HASH`. @returns {LedgerPoint | null} */
export function readPoint(text) {
  const [, count, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text ?? '') ?? [];
  return count === undefined ? null : { count: Number(count), hash, text };
}

/** @param {unknown} value @returns {string | null} */
const textOf = (value) => (typeof value === 'string' && value !== '' ? value : null);

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
    hash: textOf(value.chain.hash) ?? '',
    at: Number.isNaN(at) ? 0 : at,
    holder: textOf(value.agent_id) ?? '',
    intentId: textOf(value.intent_id),
    state: textOf(value.state) ?? '',
    action: textOf(value.action_type) ?? '',
    tool: textOf(payload.tool_name),
    files: targets.filter((/** @type {unknown} */ path) => typeof path === 'string'),
    content: textOf(payload.hash),
    reasoning: textOf(payload.reasoning),
    status: textOf(result.status) ?? '',
    summary: textOf(result.output_summary),
    error: textOf(result.error_message),
    model: textOf(metadata.contributor),
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
  const lines = merged.filter(({ seq }) => seq > (base?.count ?? 0)).sort((one, other) => other.seq - one.seq);
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
export function startedLedger(filter, body) {
  const ledger = withLines(unreadLedger(filter), body, linesOf(body));
  const count = ledger.sealed?.count ?? 0;
  const lastLine = ledger.lines.at(-1);
  return withRange(ledger, count, lastLine ? lastLine.seq - 1 : count);
}

/** @param {Ledger} ledger @param {any} body The lines after `newest`. @returns {Ledger} */
export function continuedLedger(ledger, body) {
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
export function lengthenedLedger(ledger, bodies, from) {
  let next = ledger;
  for (const body of bodies) next = withLines(next, body, linesOf(body).filter(({ seq }) => seq <= ledger.oldest));
  return withRange(next, ledger.newest, from);
}
