// One row of the panel of intents.

import { keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { nameOf } from '../app/names.js';
import { criteriaWords } from '../app/intent_words.js';
import { filesOf, isEnded, workersOf } from '../app/intents.js';
import { counted } from '../app/words.js';
import { fileList } from './file_list.js';
import { fold } from './fold.js';
import { intentBudget } from './intent_budget.js';
import { intentButton } from './intent_button.js';
import { intentFacts } from './intent_facts.js';
import { intentStatus } from './intent_status.js';
import { badge, moment } from './parts.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').Intent} Intent */
/** @typedef {import('../app/types.js').Worker} Worker */

/**
 * @param {Model} model
 * @param {Intent} first
 */
export function intentRow(model, first) {
  let intent = first;
  const { id } = intent;
  /** @type {string[]} */
  let paths = [];
  /** @type {ReturnType<typeof intentButton> | null} */
  let widenedButton = null;
  const isSelected = () => model.state.place.intent === id;
  const name = make('button', { type: 'button', class: 'intent-name', onclick: toggleSelection });
  const status = intentStatus();
  const branchText = make('span', {});
  const reason = make('p', { class: 'intent-reason' });
  const missing = make('p', { class: 'intent-lacks' });
  const widened = make('p', { class: 'intent-line soft' });
  const turns = intentBudget('Turns');
  const tokens = intentBudget('Tokens');
  const noBudget = make('p', { class: 'soft' }, 'No budget');
  const criteria = make('ul', { class: 'criteria' });
  const criteriaFold = fold('intent-criteria', criteria, () => renderCriteria(intent.criteria));
  const files = fileList(model);
  const filesFold = fold('intent-files', files.node, () => files.update(paths));
  const facts = intentFacts();
  const factsFold = fold('intent-scope', facts.node, () => facts.update(intent));
  const workers = make('ul', { class: 'intent-workers' });
  const heard = moment();
  const heardNote = make('span', {}, 'Heard ', heard.node);
  const agentModel = make('span', {});
  const ledger = make('button', { type: 'button', class: 'quiet', onclick: showLines }, 'In the ledger');
  const node = make('li', { class: 'intent', 'data-intent': id },
    make('div', { class: 'intent-head' }, name, status.node),
    make('p', { class: 'intent-id' }, make('code', {}, id), branchText),
    widened, reason, missing, turns.node, tokens.node, noBudget,
    criteriaFold.node, filesFold.node, factsFold.node, workers,
    make('p', { class: 'agent-notes' }, heardNote, agentModel, ledger));

  const renderWorkers = keyedChildren(workers, (/** @type {Worker} */ { holder }) => holder, (worker) => {
    const { holder, agentId, userName } = worker;
    const where = make('span', { class: 'soft' });
    const workerName = make('span', { class: 'intent-worker', title: holder }, nameOf(model.state, holder));
    return {
      node: make('li', {}, badge(holder, agentId, userName), workerName, where),
      update: (/** @type {Worker} */ { branch }) => setText(where, branch ? `on ${branch}` : ''),
    };
  });
  const keyOfCriterion = (/** @type {Intent['criteria'][number]} */ { text }) => text;
  const renderCriteria = keyedChildren(criteria, keyOfCriterion, ({ text }) => {
    const proof = make('span', { class: 'soft' });
    const spokenState = make('span', { class: 'unseen' });
    const row = make('li', {}, make('span', {}, spokenState, text), proof);
    return {
      node: row,
      update(/** @type {Intent['criteria'][number]} */ { met }) {
        row.classList.toggle('is-met', met !== null);
        setText(spokenState, met ? 'Met: ' : 'Not met: ');
        setText(proof, met ? `${met.evidence} (${met.by})` : '');
      },
    };
  });

  function toggleSelection() {
    model.go({ intent: isSelected() ? null : id });
  }

  function showLines() {
    model.filterLedger({ intent: id, file: null });
  }

  /** @param {number} now */
  function tick(now) {
    if (intent.heardAt !== null) heard.update(intent.heardAt, now);
  }

  /** @param {Intent} next */
  function update(next) {
    intent = next;
    const hasEnded = isEnded(intent);
    setText(name, intent.name || id);
    name.title = 'Show its files on the map';
    setAttribute(name, 'aria-pressed', String(isSelected()));
    setAttribute(node, 'aria-current', isSelected() ? 'true' : null);
    setAttribute(node, 'data-status', intent.status);
    status.update(intent.status);
    setText(branchText, intent.branch ? ` on ${intent.branch}` : '');
    updateWidened();
    setText(reason, intent.reason ?? '');
    reason.hidden = !intent.reason;
    setText(missing, `Missing: ${intent.missing.join(', ')}.`);
    missing.hidden = intent.missing.length === 0 || hasEnded;
    turns.update(intent.turns);
    tokens.update(intent.tokens);
    noBudget.hidden = intent.turns !== null || hasEnded;
    criteriaFold.update(intent.criteria.length > 0 ? criteriaWords(intent.criteria) : '');
    paths = filesOf(model.state.intents, id);
    filesFold.update(paths.length > 0 ? counted(paths.length, 'owned file') : '');
    const hasFacts = intent.description || intent.scope.length + intent.constraints.length > 0;
    factsFold.update(hasFacts ? 'Scope and rules' : '');
    const workersNow = workersOf(model.state, id, model.now());
    renderWorkers(workersNow);
    workers.hidden = workersNow.length === 0;
    heardNote.hidden = intent.heardAt === null;
    setText(agentModel, intent.model ? `by ${intent.model}` : '');
    agentModel.hidden = !intent.model;
    tick(model.now());
  }

  /** Shows the intent whose scope this one widens. */
  function updateWidened() {
    const { supplements } = intent;
    if (widened.dataset.shown !== `${supplements}`) {
      widened.dataset.shown = `${supplements}`;
      widenedButton = supplements ? intentButton(model, supplements) : null;
      widened.replaceChildren(...(widenedButton ? ['Widens', widenedButton.node] : []));
      widened.hidden = !widenedButton;
    }
    widenedButton?.update();
  }

  return { node, update, tick };
}
