// One row of the panel of intents.

import { icon, keyedChildren, makeButton, makeElement, setAttribute, setIcon, setText } from '../app/dom.js';
import { formatCount } from '../app/formatting.js';
import { nameOf } from '../app/holder.js';
import { budgetLabel, criteriaLabel, STATUS_LABELS } from '../app/intent_labels.js';
import { filesOf, isEnded, workersOf } from '../app/intents.js';
import { badge, intentButton, timeLabel } from './elements.js';
import { fileList } from './file_list.js';
import { fold } from './fold.js';

/** @import { Intent, IntentStatus, Model, Spending, Worker } from '../app/types.js' */

/** The icon identifies a status without its color. @type {Record<IntentStatus, string>} */
const ICONS = { PENDING: 'clock', IN_PROGRESS: 'play', BLOCKED: 'warning', COMPLETED: 'check', ABANDONED: 'close' };

/** @param {Model} model @param {Intent} first */
export function intentRow(model, first) {
  let intent = first;
  const { id } = intent;
  /** @type {string[]} */
  let paths = [];
  /** @type {ReturnType<typeof intentButton> | null} */
  let widenedButton = null;
  const isSelected = () => model.state.place.intent === id;
  const name = makeButton({ class: 'intent-name', onclick: toggleSelection });
  const statusIcon = icon('clock');
  const statusText = makeElement('span');
  const status = makeElement('span', { class: 'intent-status' }, statusIcon, statusText);
  const branchText = makeElement('span');
  const reason = makeElement('p', { class: 'intent-reason' });
  const missing = makeElement('p', { class: 'intent-lacks' });
  const widened = makeElement('p', { class: 'intent-line soft' });
  const turns = intentBudget('Turns');
  const tokens = intentBudget('Tokens');
  const noBudget = makeElement('p', { class: 'soft' }, 'No budget');
  const criteria = makeElement('ul', { class: 'criteria' });
  const criteriaFold = fold('intent-criteria', criteria, () => renderCriteria(intent.criteria));
  const files = fileList(model);
  const filesFold = fold('intent-files', files.node, () => files.update(paths));
  const facts = makeElement('div', { class: 'intent-facts' });
  const factsFold = fold('intent-scope', facts, updateFacts);
  let shownFacts = '';
  const workers = makeElement('ul', { class: 'intent-workers' });
  const activeTime = timeLabel();
  const activeNote = makeElement('span', {}, 'Last active ', activeTime.node);
  const agentModel = makeElement('span');
  const ledger = makeButton({ class: 'quiet', onclick: showLines }, 'In the ledger');
  const node = makeElement('li', { class: 'intent', 'data-intent': id },
    makeElement('div', { class: 'intent-head' }, name, status),
    makeElement('p', { class: 'intent-id' }, makeElement('code', {}, id), branchText),
    widened, reason, missing, turns.node, tokens.node, noBudget,
    criteriaFold.node, filesFold.node, factsFold.node, workers,
    makeElement('p', { class: 'agent-notes' }, activeNote, agentModel, ledger));

  const renderWorkers = keyedChildren(workers, (/** @type {Worker} */ { holder }) => holder, (worker) => {
    const { holder, agentId, userName } = worker;
    const where = makeElement('span', { class: 'soft' });
    const workerName = makeElement('span', { class: 'intent-worker', title: holder }, nameOf(model.state, holder));
    return {
      node: makeElement('li', {}, badge(holder, agentId, userName), workerName, where),
      update: (/** @type {Worker} */ { branch }) => setText(where, branch ? `on ${branch}` : ''),
    };
  });
  const keyOfCriterion = (/** @type {Intent['criteria'][number]} */ { text }) => text;
  const renderCriteria = keyedChildren(criteria, keyOfCriterion, ({ text }) => {
    const proof = makeElement('span', { class: 'soft' });
    const spokenState = makeElement('span', { class: 'unseen' });
    const row = makeElement('li', {}, makeElement('span', {}, spokenState, text), proof);
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
    if (intent.lastActiveAt !== null) activeTime.update(intent.lastActiveAt, now);
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
    setAttribute(status, 'data-status', intent.status);
    setIcon(statusIcon, ICONS[intent.status] ?? 'help');
    setText(statusText, STATUS_LABELS[intent.status] ?? intent.status);
    setText(branchText, intent.branch ? ` on ${intent.branch}` : '');
    updateWidened();
    setText(reason, intent.reason ?? '');
    reason.hidden = !intent.reason;
    setText(missing, `Missing: ${intent.missing.join(', ')}.`);
    missing.hidden = intent.missing.length === 0 || hasEnded;
    turns.update(intent.turns);
    tokens.update(intent.tokens);
    noBudget.hidden = intent.turns !== null || hasEnded;
    criteriaFold.update(intent.criteria.length > 0 ? criteriaLabel(intent.criteria) : '');
    paths = filesOf(model.state.intents, id);
    filesFold.update(paths.length > 0 ? formatCount(paths.length, 'owned file') : '');
    const hasFacts = intent.description || intent.scope.length + intent.constraints.length > 0;
    factsFold.update(hasFacts ? 'Scope and rules' : '');
    const workersNow = workersOf(model.state, id, model.now());
    renderWorkers(workersNow);
    workers.hidden = workersNow.length === 0;
    activeNote.hidden = intent.lastActiveAt === null;
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

  /** Shows the description, the scope and the rules. */
  function updateFacts() {
    const { description, scope, constraints, mayOverlap } = intent;
    const key = JSON.stringify([description, scope, constraints, mayOverlap]);
    if (key === shownFacts) return;
    shownFacts = key;
    facts.replaceChildren(
      ...(description ? [makeElement('p', {}, description)] : []),
      ...factSection('May change', scope, 'code'),
      ...factSection('Rules', constraints, 'span'),
      ...factSection('May overlap with', mayOverlap, 'code'));
  }

  return { node, update, tick };
}

/** @param {string} title @param {string[]} items @param {'code' | 'span'} tag */
function factSection(title, items, tag) {
  if (items.length === 0) return [];
  const rows = items.map((item) => makeElement('li', {}, makeElement(tag, {}, item)));
  return [makeElement('h3', {}, title), makeElement('ul', {}, ...rows)];
}

/** The spending of a budget as words, and as a bar if the budget has a limit. @param {string} name */
function intentBudget(name) {
  const text = makeElement('span');
  const fill = makeElement('span');
  const attributes = { class: 'budget-bar', role: 'meter', 'aria-label': name, 'aria-valuemin': '0' };
  const bar = makeElement('span', attributes, fill);
  const node = makeElement('div', { class: 'budget' }, makeElement('span', { class: 'soft' }, name), text, bar);
  return {
    node,
    /** @param {Spending | null} spending */
    update(spending) {
      node.hidden = spending === null;
      if (!spending) return;
      const words = budgetLabel(spending);
      setText(text, words.text);
      setAttribute(node, 'data-level', words.level);
      bar.hidden = words.share === null;
      if (words.share === null || spending.most === null) return;
      setAttribute(bar, 'aria-valuemax', String(spending.most));
      setAttribute(bar, 'aria-valuenow', String(Math.min(spending.used, spending.most)));
      setAttribute(bar, 'aria-valuetext', words.text);
      fill.style.transform = `scaleX(${words.share.toFixed(3)})`;
    },
  };
}
