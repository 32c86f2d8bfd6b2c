// One row of the panel of agents: a line, and its details.

import {
  icon, iconButton, keyedChildren, makeButton, makeElement, setAttribute, setIcon, setText,
} from '../app/dom.js';
import { formatCount, formatList, nameOfPath } from '../app/formatting.js';
import { nameOf } from '../app/holder.js';
import { duration } from '../app/time.js';
import { holderActions } from './action_buttons.js';
import { badge, commandChip, fileButton, holderName, timeLabel, timeLeft } from './elements.js';

/** @import { Agent, Conflict, Lock, Model } from '../app/types.js' */

const FILES_SHOWN = 8;
const CONFLICT_FILES_SHOWN = 3;

/** @param {Agent} agent @returns {{ icon: string, text: string, tone: string }} The work of the agent. */
function workOfAgent({ locks, wait }) {
  const written = locks.filter(({ mode }) => mode === 'WRITING').length;
  const read = locks.length - written;
  const holds = [written > 0 ? `writes ${written}` : '', read > 0 ? `reads ${read}` : ''].filter(Boolean).join(', ');
  if (wait) return { icon: 'clock', text: holds ? `waits, ${holds}` : 'waits', tone: 'waits' };
  if (written > 0) return { icon: 'pencil', text: holds, tone: 'writes' };
  if (read > 0) return { icon: 'eye', text: holds, tone: 'reads' };
  return { icon: 'warning', text: 'refused', tone: 'refused' };
}

/** @param {Model} model @param {Agent} first */
export function agentRow(model, first) {
  let agent = first;
  let isOpen = false;
  let areAllShown = false;
  const { holder } = first;
  const mark = badge(holder, agent.agentId, agent.userName);
  const name = holderName(model, holder);
  const left = timeLeft();
  const since = timeLabel(duration);
  const commandAt = timeLabel();
  const shortMessage = makeElement('span', { class: 'agent-summary' });
  const workIcon = icon('pencil');
  const workText = makeElement('span');
  const work = makeElement('span', { class: 'agent-work' }, workIcon, workText);
  const select = makeButton({ class: 'agent-select', onclick: toggleSelection },
    name.node, work, shortMessage);
  const fold = iconButton('chevron', {
    class: 'icon-button agent-fold', 'aria-expanded': 'false', onclick: toggleDetails,
  });
  const message = makeElement('p', { class: 'agent-message' });
  const files = makeElement('ul', { class: 'file-list' });
  const more = makeButton({ class: 'quiet', onclick: toggleFiles });
  const command = makeElement('span');
  const sinceLine = makeElement('span');
  const notes = makeElement('p', { class: 'agent-notes' }, sinceLine, command);
  const conflicts = makeElement('ul', { class: 'agent-conflicts' });
  const actions = holderActions(model);
  const details = makeElement('div', { class: 'agent-details', hidden: true },
    message, conflicts, files, more, notes, actions.node);
  const node = makeElement('li', { class: 'agent', 'data-holder': holder },
    makeElement('div', { class: 'agent-line-row' }, mark, select, left.node, fold), details, left.bar);

  function toggleSelection() {
    model.go({ agent: model.state.place.agent === holder ? null : holder });
  }

  function toggleDetails() {
    isOpen = details.hidden;
    updateState();
  }

  function toggleFiles() {
    areAllShown = !areAllShown;
    update(agent);
  }

  function updateState() {
    const isSelected = model.state.place.agent === holder;
    details.hidden = !isOpen;
    setAttribute(fold, 'aria-expanded', String(isOpen));
    setAttribute(fold, 'aria-label', `Details of ${nameOf(model.state, holder)}`);
    setAttribute(node, 'aria-current', isSelected ? 'true' : null);
    setAttribute(select, 'aria-pressed', String(isSelected));
  }

  const renderFiles = keyedChildren(files, (/** @type {Lock} */ lock) => lock.path, (lock) => {
    const button = fileButton(model, lock.path);
    return { node: makeElement('li', {}, button.node), update: (/** @type {Lock} */ next) => button.update(next.mode) };
  });
  const keyOfConflict = (/** @type {Conflict} */ conflict) => `${conflict.isWaiting} ${conflict.holder}`;
  const renderConflicts = keyedChildren(conflicts, keyOfConflict, (conflict) => (conflict.isWaiting
    ? waitRow(model, conflict.holder)
    : waiterRow(model, conflict.holder)));

  /** @param {number} now */
  function tick(now) {
    const lock = agent.locks.reduce((/** @type {Lock | null} */ soonest, each) =>
      (soonest && soonest.expiry <= each.expiry ? soonest : each), null);
    left.node.hidden = left.bar.hidden = !lock;
    if (lock) left.update(lock, now);
    since.update(agent.since, now);
    if (agent.commandAt) commandAt.update(agent.commandAt, now);
  }

  /** @param {Agent} next */
  function update(next) {
    agent = next;
    const { icon: iconName, text: words, tone } = workOfAgent(agent);
    const text = agent.locks.length === 0 && agent.wait ? agent.wait.message : agent.message;
    name.update();
    setIcon(workIcon, iconName);
    setText(workText, words);
    setAttribute(work, 'data-tone', tone);
    setText(shortMessage, text);
    setText(message, text);
    message.hidden = !text;
    setAttribute(select, 'title', `${holder}: ${text}`);
    renderFiles(areAllShown ? agent.locks : agent.locks.slice(0, FILES_SHOWN));
    more.hidden = agent.locks.length <= FILES_SHOWN;
    more.setAttribute('aria-expanded', String(areAllShown));
    setText(more, areAllShown ? 'Show fewer' : `Show all ${formatCount(agent.locks.length, 'file')}`);
    renderConflicts(agent.conflicts);
    actions.update(holder, agent.locks.map(({ path }) => path));
    if (command.dataset.shown !== `${agent.command}`) {
      command.dataset.shown = `${agent.command}`;
      const parts = agent.command ? ['Last command ', commandChip(agent.command), ' ', commandAt.node] : [];
      command.replaceChildren(...parts);
    }
    command.hidden = !agent.command;
    const [verb, suffix] = agent.locks.length > 0
      ? ['Held for ', '']
      : agent.wait ? ['Waiting for ', ''] : ['Refused ', ' ago'];
    if (sinceLine.dataset.verb !== verb) {
      sinceLine.dataset.verb = verb;
      sinceLine.replaceChildren(verb, since.node, suffix);
    }
    updateState();
    tick(model.now());
  }

  return {
    node,
    badge: mark,
    update,
    tick,
    /** Opens its details. */
    open() {
      isOpen = true;
      updateState();
    },
  };
}

/** A holder that the agent waits for, with the files. @param {Model} model @param {string} blocker */
function waitRow(model, blocker) {
  const head = makeElement('span');
  const files = makeElement('span', { class: 'conflict-files' });
  const rest = makeElement('span', { class: 'soft' });
  const renderFiles = keyedChildren(files, (/** @type {string} */ path) => path, (path) => {
    const button = fileButton(model, path);
    return { node: button.node, update: () => button.update(model.state.locks.get(path)?.[0].mode ?? null) };
  });
  return {
    node: makeElement('li', { class: 'waits' }, head, files, rest),
    update(/** @type {Conflict} */ { paths }) {
      const more = paths.length - CONFLICT_FILES_SHOWN;
      setText(head, `Waits for ${nameOf(model.state, blocker)}:`);
      renderFiles(paths.slice(0, CONFLICT_FILES_SHOWN));
      setText(rest, more > 0 ? `and ${more} more` : '');
    },
  };
}

/**
 * A holder that waits for the agent. The row already has buttons for the files.
 * @param {Model} model
 * @param {string} waiter
 */
function waiterRow(model, waiter) {
  const node = makeElement('li', { class: 'is-waited-for' });
  return {
    node,
    update(/** @type {Conflict} */ { paths }) {
      const files = formatList(paths.map(nameOfPath), CONFLICT_FILES_SHOWN);
      setText(node, `${nameOf(model.state, waiter)} waits for ${files}`);
      node.title = paths.join('\n');
    },
  };
}
