// The members of a team: what each has, when it was last seen, and what it has not read.

import { keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { isHeld } from '../app/tasks.js';
import { isSameName } from '../app/teams.js';
import { counted } from '../app/words.js';
import { memberBadge, moment } from './parts.js';
import { taskButton } from './task_button.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').Member} Member */
/** @typedef {import('../app/team_types.js').Task} Task */

const FIRST = 100;

/** @param {HTMLElement} element @param {Model} model */
export function mountMembers(element, model) {
  const count = make('span', { class: 'count' });
  const list = make('ul', { class: 'member-list' });
  const empty = make('p', { class: 'empty' }, 'Reading the members');
  const more = make('button', { type: 'button', class: 'quiet', onclick: () => { most = Infinity; render(); } });
  element.classList.add('panel', 'members');
  element.append(make('div', { class: 'panel-head' }, make('h2', { class: 'panel-title' }, 'Members ', count)), empty, list, more);
  let most = FIRST;
  /** @type {Map<string, Task[]>} By handle in lower case. */
  let held = new Map();
  /** @type {Map<string, ReturnType<typeof memberRow>>} */
  const rows = new Map();
  const renderRows = keyedChildren(list, (/** @type {Member} */ { handle }) => handle, (member) => {
    const row = memberRow(model, member, () => held);
    rows.set(member.handle, row);
    return row;
  });

  function render() {
    const { board } = model.state;
    const { team } = board;
    const members = team?.members ?? [];
    held = new Map();
    for (const task of board.tasks.values()) {
      if (!isHeld(task) || task.owner === null) continue;
      const key = task.owner.toLowerCase();
      held.set(key, [...(held.get(key) ?? []), task]);
    }
    const rank = (/** @type {Member} */ { handle, isLive, hasEnded }) => (team && isSameName(handle, team.leader) ? 0 : hasEnded ? 3 : isLive ? 1 : 2);
    const sorted = [...members].sort((one, other) => rank(one) - rank(other) || (one.handle < other.handle ? -1 : 1));
    const known = new Set(members.map(({ handle }) => handle));
    for (const handle of rows.keys()) if (!known.has(handle)) rows.delete(handle);
    renderRows(sorted.slice(0, most));
    empty.hidden = team !== null;
    more.hidden = sorted.length <= most;
    setText(more, `Show all ${counted(sorted.length, 'member')}`);
    const live = members.filter(({ isLive, hasEnded }) => isLive && !hasEnded).length;
    setText(count, members.length > 0 ? `${live} live of ${members.length}` : '');
  }

  const endTicks = everySecond(() => {
    const now = model.now();
    for (const row of rows.values()) row.tick(now);
  });
  const unsubscribe = model.subscribe((changed) => {
    if (changed.has('board') || changed.has('place')) render();
  });
  render();
  return {
    destroy() {
      endTicks();
      unsubscribe();
    },
  };
}

/** @param {Model} model @param {Member} first @param {() => Map<string, Task[]>} heldBy */
function memberRow(model, first, heldBy) {
  let member = first;
  const { handle, login } = member;
  const mark = memberBadge(model);
  const seen = moment();
  const role = make('span', { class: 'member-role' });
  const standing = make('span', { class: 'member-standing' });
  const never = make('span', {}, 'never seen');
  const inbox = make('button', { type: 'button', class: 'quiet member-inbox', onclick: choose });
  const tasks = make('ul', { class: 'member-tasks' });
  const node = make('li', { class: 'member', 'data-handle': handle },
    mark.node,
    make('div', { class: 'agent-text' },
      make('div', { class: 'agent-head' }, make('strong', { class: 'agent-name' }, handle, login.toLowerCase() === handle.toLowerCase() ? null : make('span', { class: 'agent-user' }, ` ${login}`)), role, inbox),
      make('p', { class: 'agent-notes' }, standing, seen.node, never),
      tasks));
  const renderTasks = keyedChildren(tasks, (/** @type {Task} */ { id }) => id, ({ id }) => {
    const button = taskButton(model, id);
    return { node: make('li', {}, button.node), update: (/** @type {Task} */ next) => button.update(next) };
  });

  function choose() {
    const isChosen = isSameName(handle, model.state.place.inbox);
    model.go({ inbox: isChosen ? null : handle, team: model.state.board.name });
  }

  /** @param {number} now */
  function tick(now) {
    seen.node.hidden = member.lastSeen === null;
    never.hidden = member.lastSeen !== null;
    if (member.lastSeen !== null) seen.update(member.lastSeen, now);
  }

  return {
    node,
    tick,
    /** @param {Member} next */
    update(next) {
      member = next;
      const { board, place } = model.state;
      const isChosen = isSameName(handle, place.inbox);
      mark.update(handle);
      setText(role, board.team && isSameName(handle, board.team.leader) ? 'leads' : '');
      const state = member.hasEnded ? 'stopped' : member.isLive ? 'live' : 'away';
      setAttribute(node, 'data-state', state);
      setText(standing, state === 'live' ? 'Live, seen' : state === 'away' ? 'Away, seen' : 'Has stopped, seen');
      setText(inbox, member.unread > 0 ? `${member.unread.toLocaleString('en-US')} unread` : 'Inbox');
      inbox.classList.toggle('has-unread', member.unread > 0);
      setAttribute(inbox, 'aria-pressed', String(isChosen));
      setAttribute(inbox, 'aria-label', `Inbox of ${handle}${member.unread > 0 ? `, ${member.unread.toLocaleString('en-US')} unread` : ''}`);
      const own = heldBy().get(handle.toLowerCase()) ?? [];
      renderTasks(own);
      tasks.hidden = own.length === 0;
      tick(model.now());
    },
  };
}
