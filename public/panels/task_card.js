// A task as a card of the board.

import { lockedForTask, waitSentence } from '../app/attention.js';
import { icon, makeButton, makeElement, setAttribute, setIcon, setText } from '../app/dom.js';
import { formatCount, formatList, nameOfPath } from '../app/formatting.js';
import { nameOf } from '../app/holder.js';
import { columnOf, dependentsOf, isHeld, isHeldBack } from '../app/tasks.js';
import { statusLabel, UNKNOWN_MEMBER } from '../app/team_labels.js';
import { memberOfHolder } from '../app/teams.js';
import { countdown } from '../app/time.js';
import { findBlockers } from '../app/waits.js';
import { memberBadge, timeLabel, timeLeft } from './elements.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').Task} Task */

/** Maximum number of dependencies that a card names. */
const MAX_NAMED = 2;

/** @param {Model} model @param {Task} first */
export function taskCard(model, first) {
  let task = first;
  const { id } = task;
  const title = makeElement('span', { class: 'task-title' });
  const button = makeButton({ class: 'card-button', 'data-task': id }, title);
  const priority = makeElement('span', { class: 'priority' });
  const ownerBadge = memberBadge(model);
  const handle = makeElement('span', { class: 'handle' });
  const owner = makeElement('span', { class: 'card-owner' }, ownerBadge.node, handle);
  const left = timeLeft();
  const completion = timeLabel();
  const reason = makeElement('span');
  const reasonIcon = icon('warning');
  const reasonLine = makeElement('p', { class: 'card-why' }, reasonIcon, reason);
  const dependents = makeElement('span');
  const files = makeElement('span');
  const node = makeElement('li', { class: 'card', onclick: onClick },
    button,
    makeElement('p', { class: 'card-line' }, makeElement('code', {}, id), priority, owner, left.node, completion.node),
    reasonLine,
    makeElement('p', { class: 'card-line card-foot' }, dependents, files),
    left.bar);

  /** A click anywhere on the card selects it, unless it ends a selection of text. @param {MouseEvent} event */
  function onClick(event) {
    const isBesideButton = event.target instanceof Element && event.target.closest('button') !== button;
    if (isBesideButton && window.getSelection()?.toString()) return;
    model.go({ task: model.state.place.task === id ? null : id, team: model.state.board.name });
  }

  /** @param {number} now */
  function tick(now) {
    const { lease, claimedAt, completedAt, reservedUntil, assignee } = task;
    const isInProgress = isHeld(task);
    left.node.hidden = left.bar.hidden = !isInProgress || lease.expires === null;
    if (isInProgress && lease.expires !== null) {
      left.update({ renewedAt: claimedAt ?? now, expiry: lease.expires }, now);
    }
    completion.node.hidden = completedAt === null;
    if (completedAt !== null) completion.update(completedAt, now);
    const isReserved = !isInProgress && assignee !== null && reservedUntil !== null && reservedUntil > now;
    const text = isReserved ? `Reserved for ${assignee}, ${countdown(reservedUntil - now)}` : reasonOf(model, task);
    setText(reason, text);
    reasonLine.hidden = text === '';
  }

  /** @param {Task} next @param {boolean} isTabStop Whether the tab key reaches it. */
  function update(next, isTabStop) {
    task = next;
    const column = columnOf(task);
    const isSelected = model.state.place.task === id;
    setText(title, task.title);
    setAttribute(button, 'title', task.title);
    setAttribute(button, 'aria-label', `${id}: ${task.title}. ${statusLabel(task)}`);
    setAttribute(button, 'aria-pressed', String(isSelected));
    setAttribute(button, 'tabindex', isTabStop ? '0' : '-1');
    setAttribute(node, 'aria-current', isSelected ? 'true' : null);
    setAttribute(node, 'data-tone', toneOf(task));
    setText(priority, task.priority === 'normal' || column === 'done' ? '' : task.priority);
    setAttribute(priority, 'data-priority', task.priority);
    owner.hidden = task.owner === null;
    setText(handle, task.owner ?? '');
    if (task.owner !== null) ownerBadge.update(task.owner);
    const isBlocked = column === 'blocked' || blockingLock(model, task) !== '';
    setIcon(reasonIcon, isBlocked && !isHeldBack(task) ? 'lock' : 'warning');
    const isCompleted = task.status === 'completed';
    const dependentCount = dependentsOf(model.state.board.tasks).get(id)?.length ?? 0;
    const count = isCompleted ? 0 : Math.max(task.blockCount === 0 ? 0 : 1, dependentCount);
    setText(dependents, count > 0 ? `Blocks ${formatCount(count, 'task')}` : '');
    setText(files, task.files.length > 0 && !isCompleted ? formatCount(task.files.length, 'file') : '');
    files.title = task.files.slice(0, 20).join('\n');
    tick(model.now());
  }

  return { node, update, tick };
}

/** @param {Task} task @returns {'bad' | 'warn' | null} Whether it needs attention. */
function toneOf(task) {
  if (isHeldBack(task)) return 'bad';
  if (task.status === 'completed') return null;
  const hasProblem = isHeld(task) ? task.dependencies.length > 0 || task.lapses > 0 : task.lease.state === 'lapsed';
  return hasProblem ? 'warn' : null;
}

/** @param {Model} model @param {Task} task @returns {string} Why it is in its column; may be empty. */
function reasonOf(model, task) {
  const { lease, lapses, dependencies, status } = task;
  const previousOwner = task.previousOwner ?? UNKNOWN_MEMBER;
  if (status === 'completed') return '';
  if (isHeldBack(task)) return `Held back: claims expired ${lapses} times`;
  const lock = blockingLock(model, task);
  if (lock) return lock;
  if (isHeld(task)) {
    if (dependencies.length > 0) return `Unmet dependencies: ${dependenciesText(model, dependencies)}`;
    if (lapses === 0) return '';
    return lapses === 1 ? 'A claim expired before' : `Claims expired ${lapses} times before`;
  }
  if (dependencies.length > 0) return `Waits for ${dependenciesText(model, dependencies)}`;
  const times = lapses > 1 ? `, ${lapses} times so far` : '';
  if (lease.state === 'lapsed') return `The claim of ${previousOwner} expired${times}`;
  return lease.state === 'released' ? `Released by ${previousOwner}` : '';
}

/** @param {Model} model @param {Task} task @returns {string} Which lock blocks it; empty if none does. */
function blockingLock({ state }, task) {
  const { team } = state.board;
  if (isHeld(task)) {
    const blocking = findBlockers(state.waits, state.locks)
      .find(({ wait }) => memberOfHolder(team, wait.holder)?.handle === task.owner);
    if (blocking && blocking.byHolder.size > 0) return waitSentence(state, blocking, task.owner ?? '');
  }
  const locked = lockedForTask(state, team, task);
  if (locked.length === 0) return '';
  const { holder } = locked[0];
  const names = locked.filter((each) => each.holder === holder).map(({ path }) => nameOfPath(path));
  return `${nameOf(state, holder)} holds ${formatList(names)}`;
}

/** @param {Model} model @param {string[]} ids @returns {string} The first of them with their owners. */
function dependenciesText(model, ids) {
  const names = ids.slice(0, MAX_NAMED).map((id) => {
    const dependency = model.state.board.tasks.get(id);
    if (!dependency) return id;
    if (isHeld(dependency)) return `${id} (${dependency.owner})`;
    return columnOf(dependency) === 'ready' ? `${id} (nobody)` : id;
  });
  const more = ids.length - MAX_NAMED;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}
