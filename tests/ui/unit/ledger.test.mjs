import assert from 'node:assert/strict';
import { test } from 'node:test';

import { addNewerLines, addOlderLines, noFilter, readLine, readPoint, startLedger } from '../../../public/app/ledger.js';
import { splitHolder } from '../../../public/app/holder.js';
import { describeLine, outcomeText, shortHash } from '../../../public/panels/ledger_labels.js';
import { hashOf, ledgerLine, ledgerPage, range } from './intents.mjs';

/** @param {import('../../../public/app/types.js').Ledger} ledger */
const seqs = ({ lines }) => lines.map(({ seq }) => seq);
/** @param {object} rest */
const line = (rest) => /** @type {import('../../../public/app/types.js').LedgerLine} */ (readLine(ledgerLine(1, rest)));

test('a line has its time, actor, intent, action and result', () => {
  const read = readLine(ledgerLine(7));
  assert.deepEqual({ ...read, text: '' }, {
    seq: 7, hash: hashOf(7), at: Date.UTC(2026, 10, 22, 9, 1, 12, 345), holder: 'ada/claude-1', intentId: 'ONE', state: 'ACTION', action: 'TOOL_EXECUTION', tool: 'Write', files: ['a'],
    content: 'sha256:ab', reasoning: null, status: 'SUCCESS', summary: 'Wrote 7', error: null, model: 'a model', text: '',
  });
  assert.equal(read?.text, ledgerLine(7), 'and is kept as it is');
});

test('text that is not a sealed line is skipped, and odd members are left out', () => {
  for (const text of ['', 'no JSON', 'null', '[]', '{"chain":{}}', '{"chain":{"seq":"1"}}']) assert.equal(readLine(text), null, text);
  const odd = readLine('{"agent_id":7,"timestamp":"x","payload":{"target_files":["a",7]},"chain":{"seq":1}}');
  assert.deepEqual([odd?.holder, odd?.at, odd?.files, odd?.hash], ['', 0, ['a'], '']);
});

test('a point is a count and a whole hash', () => {
  assert.deepEqual(readPoint(`3:${hashOf(3)}`), { count: 3, hash: hashOf(3), text: `3:${hashOf(3)}` });
  for (const text of ['', '3', '3:ab', `x:${hashOf(3)}`]) assert.equal(readPoint(text), null);
});

test('a ledger begins with the newest lines, and knows how far they reach', () => {
  const ledger = startLedger(noFilter(), ledgerPage(range(51, 100)));
  assert.deepEqual([seqs(ledger)[0], seqs(ledger).at(-1), ledger.newest, ledger.oldest, ledger.hasOlder, ledger.sealed?.count], [100, 51, 100, 50, true, 100]);
  assert.equal(startLedger(noFilter(), ledgerPage(range(1, 3))).hasOlder, false);
  const filtered = startLedger({ intent: 'X', file: null }, ledgerPage([], { sealed: 100 }));
  assert.deepEqual([filtered.newest, filtered.oldest, filtered.hasOlder], [100, 100, true], 'lines that match may be further back');
});

test('lines that follow are put before, each once, up to where they were read', () => {
  const started = startLedger(noFilter(), ledgerPage(range(1, 3)));
  const next = addNewerLines(started, ledgerPage([3, 4, 5], { sealed: 9, next: 5 }));
  assert.deepEqual([seqs(next), next.newest], [[5, 4, 3, 2, 1], 5]);
  assert.equal(addNewerLines(next, ledgerPage([], { sealed: 9 })).newest, 9, 'nothing more matches up to the seal');
});

test('older lines are put behind, and no line is shown twice', () => {
  const started = startLedger(noFilter(), ledgerPage(range(101, 103)));
  const older = addOlderLines(started, [ledgerPage(range(1, 60), { sealed: 103 }), ledgerPage(range(61, 103))], 0);
  assert.deepEqual([seqs(older), older.oldest, older.hasOlder], [range(1, 103).reverse(), 0, false]);
});

test('trimmed lines are no longer shown', () => {
  const started = startLedger(noFilter(), ledgerPage(range(1, 10)));
  const trimmed = addNewerLines(started, ledgerPage([11], { base: 8 }));
  assert.deepEqual([seqs(trimmed), trimmed.base?.count, trimmed.hasOlder], [[11, 10, 9], 8, false]);
});

test('a successful read of the ledger removes the message of a fault', () => {
  const started = { ...startLedger(noFilter(), ledgerPage([1])), message: 'The server does not answer.' };
  assert.equal(addNewerLines(started, ledgerPage([])).message, null);
});

test('each line has its action in words', () => {
  const payload = { tool_name: 'Edit', target_files: ['a', 'b'], hash: 'sha256:ab' };
  /** @type {[object, string][]} */
  const cases = [
    [{}, 'changes 1 file'],
    [{ payload }, 'changes 2 files'],
    [{ payload: { ...payload, hash: 'DELETED' } }, 'deletes 2 files'],
    [{ result: { status: 'FAILURE', output_summary: '' } }, 'changes 1 file without success'],
    [{ result: { status: 'DENIED', output_summary: '' } }, 'is refused 1 file'],
    [{ payload: { tool_name: 'Bash' } }, 'uses Bash'],
    [{ payload: {} }, 'uses a tool'],
    [{ action_type: 'INTENT_SELECTION' }, 'selects the intent'],
    [{ action_type: 'INTENT_SELECTION', result: { status: 'DENIED' } }, 'cannot select the intent'],
    [{ action_type: 'SCOPE_VIOLATION', payload }, 'is refused 2 files'],
    [{ action_type: 'BUDGET_EXHAUSTED', payload: {} }, 'is stopped'],
    [{ action_type: 'CONTEXT_LOAD' }, 'is given the context'],
    [{ action_type: 'STATE_TRANSITION' }, 'changes state'],
    [{ action_type: 'A_LATER_ONE' }, 'a later one'],
  ];
  for (const [rest, text] of cases) assert.equal(describeLine(line(rest)), text);
  assert.equal(outcomeText(line({ result: { status: 'DENIED', output_summary: 'Outside', error_message: 'Scope Violation' } })), 'Scope Violation');
  assert.equal(outcomeText(line({ result: {} })), '');
});

test('an actor is a login, or a login and an agent; a short hash has twelve digits', () => {
  assert.deepEqual(splitHolder('ada/team/one'), { user: 'ada', agentId: 'team/one' });
  assert.deepEqual(splitHolder('ada'), { user: 'ada', agentId: null });
  assert.equal(shortHash(hashOf(3)).length, 12);
});
