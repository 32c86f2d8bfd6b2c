// A task as a card of the board.

import { icon, make, setAttribute, setIcon, setText } from '../app/dom.js';
import { lockedForTask, waitSentence } from '../app/attention.js';
import { memberOfHolder } from '../app/members.js';
import { nameOf } from '../app/names.js';
import { columnOf, dependentsOf, isHeld, isHeldBack } from '../app/tasks.js';
import { standingOf } from '../app/team_words.js';
import { countdown } from '../app/time.js';
import { blockedBy } from '../app/waits.js';
import { counted, listed, nameOfPath } from '../app/words.js';
import { memberBadge, moment, timeLeft } from './parts.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').Task} Task */

const NAMED = 2;

/** @param {Model} model @param {Task} first */
export function taskCard(model, first) {
  let task = first;
  const { id } = task;
  const title = make('span', { class: 'task-title' });
  const button = make('button', { type: 'button', class: 'card-button', 'data-task': id }, title);
  const priority = make('span', { class: 'priority' });
  const mark = memberBadge(model);
  const handle = make('span', { class: 'handle' });
  const owner = make('span', { class: 'card-owner' }, mark.node, handle);
  const left = timeLeft();
  const done = moment();
  const note = make('span', {});
  const noteIcon = icon('warning');
  const why = make('p', { class: 'card-why' }, noteIcon, note);
  const waiting = make('span', { class: 'card-waiting' });
  const files = make('span', {});
  const node = make('li', { class: 'card', onclick: onClick },
    button,
    make('p', { class: 'card-line' }, make('code', {}, id), priority, owner, left.node, done.node),
    why,
    make('p', { class: 'card-line card-foot' }, waiting, files),
    left.bar);

  /** A click anywhere on the card is meant for it, unless it ends a selection of text. @param {MouseEvent} event */
  function onClick(event) {
    if (event.target instanceof Element && event.target.closest('button') !== button && window.getSelection()?.toString()) return;
    model.go({ task: model.state.place.task === id ? null : id, team: model.state.board.name });
  }

  /** @param {number} now */
  function tick(now) {
    const { lease, claimedAt, completedAt, reservedUntil, assignee } = task;
    const isOut = isHeld(task);
    left.node.hidden = left.bar.hidden = !isOut || lease.expires === null;
    if (isOut && lease.expires !== null) left.update({ renewedAt: claimedAt ?? now, expiry: lease.expires }, now);
    done.node.hidden = completedAt === null;
    if (completedAt !== null) done.update(completedAt, now);
    const isKept = !isOut && assignee !== null && reservedUntil !== null && reservedUntil > now;
    const said = isKept ? `Kept for ${assignee}, ${countdown(reservedUntil - now)}` : whyOf(model, task);
    setText(note, said);
    why.hidden = said === '';
  }

  /** @param {Task} next @param {boolean} isTabbed Whether the tab key stops at it. */
  function update(next, isTabbed) {
    task = next;
    const column = columnOf(task);
    const isSelected = model.state.place.task === id;
    setText(title, task.title);
    setAttribute(button, 'title', task.title);
    setAttribute(button, 'aria-label', `${id}: ${task.title}. ${standingOf(task)}`);
    setAttribute(button, 'aria-pressed', String(isSelected));
    setAttribute(button, 'tabindex', isTabbed ? '0' : '-1');
    setAttribute(node, 'aria-current', isSelected ? 'true' : null);
    setAttribute(node, 'data-tone', toneOf(task));
    setText(priority, task.priority === 'normal' || column === 'done' ? '' : task.priority);
    setAttribute(priority, 'data-priority', task.priority);
    owner.hidden = task.owner === null;
    setText(handle, task.owner ?? '');
    if (task.owner !== null) mark.update(task.owner);
    setIcon(noteIcon, (column === 'blocked' || lockOf(model, task) !== '') && !isHeldBack(task) ? 'lock' : 'warning');
    const count = task.status === 'completed' ? 0 : Math.max(task.blockCount === 0 ? 0 : 1, dependentsOf(model.state.board.tasks).get(id)?.length ?? 0);
    setText(waiting, count > 0 ? `Blocks ${counted(count, 'task')}` : '');
    setText(files, task.files.length > 0 && task.status !== 'completed' ? counted(task.files.length, 'file') : '');
    files.title = task.files.slice(0, 20).join('\n');
    tick(model.now());
  }

  return { node, update, tick };
}

/** @param {Task} task @returns {string | null} Whether it wants somebody to look at it. */
function toneOf(task) {
  if (isHeldBack(task)) return 'bad';
  if (task.status === 'completed') return null;
  if (!isHeld(task)) return task.lease.state === 'lapsed' ? 'warn' : null;
  return task.dependencies.length > 0 || task.lapses > 0 ? 'warn' : null;
}

/** @param {Model} model @param {Task} task @returns {string} Why it is where it is. */
function whyOf(model, task) {
  const { lease, lapses, previousOwner, dependencies, status } = task;
  if (status === 'completed') return '';
  const times = lapses > 1 ? `, ${lapses} times so far` : '';
  if (isHeldBack(task)) return `Held back: claims expired ${lapses} times`;
  const lock = lockOf(model, task);
  if (lock) return lock;
  if (isHeld(task)) return dependencies.length > 0 ? `Despite ${named(model, dependencies)}` : lapses === 1 ? 'A claim expired before' : lapses > 1 ? `Claims expired ${lapses} times before` : '';
  if (dependencies.length > 0) return `Waits for ${named(model, dependencies)}`;
  if (lease.state === 'lapsed') return `The claim of ${previousOwner ?? 'nobody known'} expired${times}`;
  return lease.state === 'released' ? `Released by ${previousOwner ?? 'nobody known'}` : '';
}

/** @param {Model} model @param {Task} task @returns {string} Whose lock is in its way; empty where none is. */
function lockOf(model, task) {
  const { state } = model;
  const { team } = state.board;
  const waiting = isHeld(task) ? blockedBy(state.waits, state.locks).find(({ wait }) => memberOfHolder(team, wait.holder)?.handle === task.owner) : undefined;
  if (waiting && waiting.byHolder.size > 0) return waitSentence(state, waiting, task.owner ?? '');
  const locked = lockedForTask(state, team, task);
  if (locked.length === 0) return '';
  const { holder } = locked[0];
  return `${nameOf(state, holder)} holds ${listed(locked.filter((each) => each.holder === holder).map(({ path }) => nameOfPath(path)))}`;
}

/** @param {Model} model @param {string[]} ids @returns {string} With who has each. */
function named(model, ids) {
  const shown = ids.slice(0, NAMED).map((id) => {
    const other = model.state.board.tasks.get(id);
    if (!other) return id;
    return isHeld(other) ? `${id} (${other.owner})` : columnOf(other) === 'ready' ? `${id} (nobody)` : id;
  });
  return ids.length > NAMED ? `${shown.join(', ')} and ${ids.length - NAMED} more` : shown.join(', ');
}
