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
  let widens = null;
  const isSelected = () => model.state.place.intent === id;
  const name = make('button', { type: 'button', class: 'intent-name', onclick: () => model.go({ intent: isSelected() ? null : id }) });
  const status = intentStatus();
  const span = make('span', {});
  const reason = make('p', { class: 'intent-reason' });
  const lacks = make('p', { class: 'intent-lacks' });
  const widened = make('p', { class: 'intent-line soft' });
  const [turns, tokens] = [intentBudget('Turns'), intentBudget('Tokens')];
  const unbound = make('p', { class: 'soft' }, 'No budget');
  const criteria = make('ul', { class: 'criteria' });
  const criteriaFold = fold('intent-criteria', criteria, fillCriteria);
  const files = fileList(model);
  const filesFold = fold('intent-files', files.node, () => files.update(paths));
  const facts = intentFacts();
  const factsFold = fold('intent-scope', facts.node, () => facts.update(intent));
  const workers = make('ul', { class: 'intent-workers' });
  const heard = moment();
  const heardNote = make('span', {}, 'Heard ', heard.node);
  const by = make('span', {});
  const ledger = make('button', { type: 'button', class: 'quiet', onclick: () => model.filterLedger({ intent: id, file: null }) }, 'In the ledger');
  const node = make('li', { class: 'intent', 'data-intent': id },
    make('div', { class: 'intent-head' }, name, status.node),
    make('p', { class: 'intent-id' }, make('code', {}, id), span),
    widened, reason, lacks, turns.node, tokens.node, unbound, criteriaFold.node, filesFold.node, factsFold.node, workers,
    make('p', { class: 'agent-notes' }, heardNote, by, ledger));

  const renderWorkers = keyedChildren(workers, (/** @type {Worker} */ { holder }) => holder, ({ holder, agentId, userName }) => {
    const where = make('span', { class: 'soft' });
    return {
      node: make('li', {}, badge(holder, agentId, userName), make('span', { class: 'intent-worker', title: holder }, nameOf(model.state, holder)), where),
      update: (/** @type {Worker} */ { branch }) => setText(where, branch ? `on ${branch}` : ''),
    };
  });
  const renderCriteria = keyedChildren(criteria, (/** @type {Intent['criteria'][number]} */ { text }) => text, ({ text }) => {
    const proof = make('span', { class: 'soft' });
    const said = make('span', { class: 'unseen' });
    const own = make('li', {}, make('span', {}, said, text), proof);
    return {
      node: own,
      update(/** @type {Intent['criteria'][number]} */ { met }) {
        own.classList.toggle('is-met', met !== null);
        setText(said, met ? 'Met: ' : 'Not met: ');
        setText(proof, met ? `${met.evidence} (${met.by})` : '');
      },
    };
  });

  function fillCriteria() {
    renderCriteria(intent.criteria);
  }

  /** @param {number} now */
  function tick(now) {
    if (intent.heardAt !== null) heard.update(intent.heardAt, now);
  }

  /** @param {Intent} next */
  function update(next) {
    intent = next;
    const { branch, turns: budget } = intent;
    const hasEnded = isEnded(intent);
    setText(name, intent.name || id);
    name.title = 'Show its files on the map';
    setAttribute(name, 'aria-pressed', String(isSelected()));
    setAttribute(node, 'aria-current', isSelected() ? 'true' : null);
    setAttribute(node, 'data-status', intent.status);
    status.update(intent.status);
    setText(span, branch ? ` on ${branch}` : '');
    if (widened.dataset.shown !== `${intent.supplements}`) {
      widened.dataset.shown = `${intent.supplements}`;
      const button = intent.supplements ? intentButton(model, intent.supplements) : null;
      widened.replaceChildren(...(button ? ['Widens', button.node] : []));
      widened.hidden = !button;
      widens = button;
    }
    widens?.update();
    setText(reason, intent.reason ?? '');
    reason.hidden = !intent.reason;
    setText(lacks, `Missing: ${intent.missing.join(', ')}.`);
    lacks.hidden = intent.missing.length === 0 || hasEnded;
    turns.update(budget);
    tokens.update(intent.tokens);
    unbound.hidden = budget !== null || hasEnded;
    criteriaFold.update(intent.criteria.length > 0 ? criteriaWords(intent.criteria) : '');
    paths = filesOf(model.state.intents, id);
    filesFold.update(paths.length > 0 ? counted(paths.length, 'owned file') : '');
    factsFold.update(intent.description || intent.scope.length + intent.constraints.length > 0 ? 'Scope and rules' : '');
    const working = workersOf(model.state, id, model.now());
    renderWorkers(working);
    workers.hidden = working.length === 0;
    heardNote.hidden = intent.heardAt === null;
    setText(by, intent.model ? `by ${intent.model}` : '');
    by.hidden = !intent.model;
    tick(model.now());
  }

  return { node, update, tick };
}
