// One row of the panel of agents: a line, and what is behind it.

import { icon, keyedChildren, make, setAttribute, setIcon, setText } from '../app/dom.js';
import { nameOf } from '../app/names.js';
import { duration } from '../app/time.js';
import { counted, listed, nameOfPath } from '../app/words.js';
import { holderActs } from './act_buttons.js';
import { holderName } from './holder_name.js';
import { badge, commandChip, fileButton, moment, timeLeft } from './parts.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').Agent} Agent */
/** @typedef {import('../app/types.js').Lock} Lock */
/** @typedef {import('../app/types.js').Conflict} Conflict */

const FILES_SHOWN = 8;
const CONFLICT_FILES_SHOWN = 3;

/** @param {Agent} agent @returns {{ icon: string, text: string, tone: string }} What it does: who waits does not write. */
export function deedOfAgent({ locks, wait }) {
  const written = locks.filter(({ mode }) => mode === 'WRITING').length;
  const read = locks.length - written;
  const holds = [written > 0 ? `writes ${written}` : '', read > 0 ? `reads ${read}` : ''].filter(Boolean).join(', ');
  if (wait) return { icon: 'clock', text: holds ? `waits, ${holds}` : 'waits', tone: 'waits' };
  if (holds) return { icon: written > 0 ? 'pencil' : 'eye', text: holds, tone: written > 0 ? 'writes' : 'reads' };
  return { icon: 'warning', text: 'refused', tone: 'refused' };
}

/**
 * @param {Model} model
 * @param {Agent} first
 */
export function agentRow(model, first) {
  let agent = first;
  let isOpen = false;
  let areAllShown = false;
  const { holder } = first;
  const mark = badge(holder, agent.agentId, agent.userName);
  const name = holderName(model, holder);
  const left = timeLeft();
  const since = moment(duration);
  const commandAt = moment();
  const said = make('span', { class: 'agent-said' });
  const deedIcon = icon('pencil');
  const deed = make('span', {});
  const deedNode = make('span', { class: 'agent-deed' }, deedIcon, deed);
  const select = make('button', { type: 'button', class: 'agent-select', onclick: toggleSelection }, name.node, deedNode, said);
  const fold = make('button', { type: 'button', class: 'icon-button agent-fold', 'aria-expanded': 'false', onclick: toggle }, icon('chevron'));
  const message = make('p', { class: 'agent-message' });
  const files = make('ul', { class: 'file-list' });
  const more = make('button', { type: 'button', class: 'quiet', onclick: () => { areAllShown = !areAllShown; update(agent); } });
  const command = make('span', { class: 'agent-command' });
  const sinceLine = make('span', { class: 'agent-since' });
  const notes = make('p', { class: 'agent-notes' }, sinceLine, command);
  const conflicts = make('ul', { class: 'agent-conflicts' });
  const acts = holderActs(model);
  const details = make('div', { class: 'agent-details', hidden: true }, message, conflicts, files, more, notes, acts.node);
  const node = make('li', { class: 'agent', 'data-holder': holder },
    make('div', { class: 'agent-line-row' }, mark, select, left.node, fold), details, left.bar);

  function toggleSelection() {
    model.go({ agent: model.state.place.agent === holder ? null : holder });
  }

  function toggle() {
    isOpen = details.hidden;
    show();
  }

  function show() {
    const isSelected = model.state.place.agent === holder;
    details.hidden = !isOpen;
    setAttribute(fold, 'aria-expanded', String(isOpen));
    setAttribute(fold, 'aria-label', `Details of ${nameOf(model.state, holder)}`);
    setAttribute(node, 'aria-current', isSelected ? 'true' : null);
    setAttribute(select, 'aria-pressed', String(isSelected));
  }

  const renderFiles = keyedChildren(files, (/** @type {Lock} */ lock) => lock.path, (lock) => {
    const button = fileButton(model, lock.path);
    return { node: make('li', {}, button.node), update: (/** @type {Lock} */ next) => button.update(next.mode) };
  });
  const renderConflicts = keyedChildren(conflicts, (/** @type {Conflict} */ { holder: other, isWaiting }) => `${isWaiting} ${other}`, ({ holder: other, isWaiting }) => {
    if (!isWaiting) return waitedFor(model, other);
    const head = make('span', {});
    const paths = make('span', { class: 'conflict-files' });
    const rest = make('span', { class: 'soft' });
    const renderPaths = keyedChildren(paths, (/** @type {string} */ path) => path, (path) => {
      const button = fileButton(model, path);
      return { node: button.node, update: () => button.update(model.state.locks.get(path)?.[0].mode ?? null) };
    });
    return {
      node: make('li', { class: 'waits' }, head, paths, rest),
      update(/** @type {Conflict} */ next) {
        setText(head, `Waits for ${nameOf(model.state, other)}:`);
        renderPaths(next.paths.slice(0, CONFLICT_FILES_SHOWN));
        setText(rest, next.paths.length > CONFLICT_FILES_SHOWN ? `and ${next.paths.length - CONFLICT_FILES_SHOWN} more` : '');
      },
    };
  });

  /** @param {number} now */
  function tick(now) {
    const lock = agent.locks.reduce((/** @type {Lock | null} */ soonest, each) => (soonest && soonest.expiry <= each.expiry ? soonest : each), null);
    left.node.hidden = left.bar.hidden = !lock;
    if (lock) left.update(lock, now);
    since.update(agent.since, now);
    if (agent.commandAt) commandAt.update(agent.commandAt, now);
  }

  /** @param {Agent} next */
  function update(next) {
    agent = next;
    const does = deedOfAgent(agent);
    const says = agent.locks.length === 0 && agent.wait ? agent.wait.message : agent.message;
    name.update();
    setIcon(deedIcon, does.icon);
    setText(deed, does.text);
    setAttribute(deedNode, 'data-tone', does.tone);
    setText(said, says);
    setText(message, says);
    message.hidden = !says;
    setAttribute(select, 'title', `${holder}: ${says}`);
    renderFiles(areAllShown ? agent.locks : agent.locks.slice(0, FILES_SHOWN));
    more.hidden = agent.locks.length <= FILES_SHOWN;
    more.setAttribute('aria-expanded', String(areAllShown));
    setText(more, areAllShown ? 'Show fewer' : `Show all ${counted(agent.locks.length, 'file')}`);
    renderConflicts(agent.conflicts);
    acts.update(holder, agent.locks.map(({ path }) => path));
    if (command.dataset.shown !== `${agent.command}`) {
      command.dataset.shown = `${agent.command}`;
      command.replaceChildren(...(agent.command ? ['Last answer ', commandChip(agent.command), ' ', commandAt.node] : []));
    }
    command.hidden = !agent.command;
    const [verb, suffix] = agent.locks.length > 0 ? ['Held for ', ''] : agent.wait ? ['Waiting for ', ''] : ['Refused ', ' ago'];
    if (sinceLine.dataset.verb !== verb) {
      sinceLine.dataset.verb = verb;
      sinceLine.replaceChildren(verb, since.node, suffix);
    }
    show();
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
      show();
    },
  };
}

/** The other side of a wait: the files are in this row already, so their names are enough. @param {Model} model @param {string} other */
function waitedFor(model, other) {
  const node = make('li', { class: 'is-waited-for' });
  return {
    node,
    update(/** @type {Conflict} */ { paths }) {
      setText(node, `${nameOf(model.state, other)} waits for ${listed(paths.map(nameOfPath), CONFLICT_FILES_SHOWN)}`);
      node.title = paths.join('\n');
    },
  };
}
