// One row of the panel of agents.

import { keyedChildren, make, setText } from '../app/dom.js';
import { duration } from '../app/time.js';
import { counted } from '../app/words.js';
import { badge, commandChip, fileButton, moment, timeLeft } from './parts.js';
import { splitPath } from './words.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').Agent} Agent */
/** @typedef {import('../app/types.js').Lock} Lock */
/** @typedef {import('../app/types.js').Conflict} Conflict */

const FILES_SHOWN = 4;
const CONFLICT_FILES_SHOWN = 3;

/**
 * @param {Model} model
 * @param {Agent} first
 */
export function agentRow(model, first) {
  let agent = first;
  let isOpen = false;
  const mark = badge(agent.holder, agent.agentId, agent.userName);
  const left = timeLeft();
  const since = moment(duration);
  const commandAt = moment();
  const message = make('p', { class: 'agent-message' });
  const files = make('ul', { class: 'file-list' });
  const more = make('button', { type: 'button', class: 'quiet', onclick: () => { isOpen = !isOpen; update(agent); } });
  const command = make('span', { class: 'agent-command' });
  const sinceLine = make('span', { class: 'agent-since' });
  const notes = make('p', { class: 'agent-notes' }, command, sinceLine);
  const conflicts = make('ul', { class: 'agent-conflicts' });
  const node = make('li', { class: 'agent', 'data-holder': agent.holder },
    mark,
    make('div', { class: 'agent-text' },
      make('div', { class: 'agent-head' },
        make('strong', { class: 'agent-name' }, agent.holder, agent.userName.toLowerCase() !== agent.user.toLowerCase() ? make('span', { class: 'agent-user' }, ` ${agent.userName}`) : null),
        left.node),
      message, conflicts, files, more, notes),
    left.bar);

  const renderFiles = keyedChildren(files, (/** @type {Lock} */ lock) => lock.path, (lock) => {
    const button = fileButton(model, lock.path);
    return { node: make('li', {}, button.node), update: (/** @type {Lock} */ next) => button.update(next.mode) };
  });
  const renderConflicts = keyedChildren(conflicts, (/** @type {Conflict} */ { holder, isWaiting }) => `${isWaiting} ${holder}`, ({ holder, isWaiting }) => {
    if (!isWaiting) return waitedFor(holder);
    const paths = make('span', { class: 'conflict-files' });
    const rest = make('span', { class: 'soft' });
    const renderPaths = keyedChildren(paths, (/** @type {string} */ path) => path, (path) => {
      const button = fileButton(model, path);
      return { node: button.node, update: () => button.update(model.state.locks.get(path)?.[0].mode ?? null) };
    });
    return {
      node: make('li', { class: 'waits' }, make('span', {}, `Waits for ${holder}:`), paths, rest),
      update(/** @type {Conflict} */ next) {
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
    setText(message, agent.message);
    message.hidden = !agent.message;
    renderFiles(isOpen ? agent.locks : agent.locks.slice(0, FILES_SHOWN));
    more.hidden = agent.locks.length <= FILES_SHOWN;
    more.setAttribute('aria-expanded', String(isOpen));
    setText(more, isOpen ? 'Show fewer' : `Show all ${counted(agent.locks.length, 'file')}`);
    renderConflicts(agent.conflicts);
    if (command.dataset.shown !== `${agent.command}`) {
      command.dataset.shown = `${agent.command}`;
      command.replaceChildren(...(agent.command ? ['Told ', commandChip(agent.command), ' ', commandAt.node] : []));
    }
    command.hidden = !agent.command;
    const [verb, suffix] = agent.locks.length > 0 ? ['Held for ', ''] : ['Refused ', ' ago'];
    if (sinceLine.dataset.verb !== verb) {
      sinceLine.dataset.verb = verb;
      sinceLine.replaceChildren(verb, since.node, suffix);
    }
    // Whoever was just refused was told so at the same time.
    sinceLine.hidden = agent.locks.length === 0 && agent.command !== null;
    tick(model.now());
  }

  return { node, badge: mark, update, tick };
}

/** The other side of a wait: the files are in this row already, so their names are enough. @param {string} holder */
function waitedFor(holder) {
  const node = make('li', { class: 'is-waited-for' });
  return {
    node,
    update(/** @type {Conflict} */ { paths }) {
      const named = paths.slice(0, CONFLICT_FILES_SHOWN).map((path) => splitPath(path)[1]).join(', ');
      const rest = paths.length > CONFLICT_FILES_SHOWN ? ` and ${paths.length - CONFLICT_FILES_SHOWN} more` : '';
      setText(node, `${holder} waits for ${named}${rest}`);
      node.title = paths.join('\n');
    },
  };
}
