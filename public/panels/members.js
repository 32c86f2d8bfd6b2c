// The members of a team: the tasks of each, when it was last seen, and its unread messages.

import { keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { isHeld } from '../app/tasks.js';
import { isSameName } from '../app/teams.js';
import { counted } from '../app/words.js';
import { memberBadge, moment, taskButton } from './parts.js';
import { everySecond } from './ticker.js';

/** @import { Model } from '../app/types.js' */
/** @import { Member, Task } from '../app/team_types.js' */

const FIRST = 100;
const STATE_WORDS = { live: 'Live, seen', away: 'Away, seen', stopped: 'Has stopped, seen' };

/** @param {HTMLElement} element @param {Model} model */
export function mountMembers(element, model) {
  const count = make('span', { class: 'count' });
  const list = make('ul', { class: 'member-list' });
  const empty = make('p', { class: 'empty' }, 'Reading the members');
  const more = make('button', { type: 'button', class: 'quiet', onclick: showAll });
  element.classList.add('panel', 'members');
  element.append(
    make('div', { class: 'panel-head' }, make('h2', { class: 'panel-title' }, 'Members ', count)), empty, list, more);
  let maxRows = FIRST;
  /** The tasks in progress, by handle in lower case. @type {Map<string, Task[]>} */
  let tasksByOwner = new Map();
  const renderRows = keyedChildren(list, (/** @type {Member} */ { handle }) => handle, ({ handle, login }) =>
    memberRow(model, handle, login, () => tasksByOwner.get(handle.toLowerCase()) ?? []));
  let rows = renderRows([]);

  function showAll() {
    maxRows = Infinity;
    render();
  }

  function render() {
    const { board } = model.state;
    const { team } = board;
    const members = team?.members ?? [];
    tasksByOwner = new Map();
    for (const task of board.tasks.values()) {
      if (!isHeld(task) || task.owner === null) continue;
      const key = task.owner.toLowerCase();
      tasksByOwner.set(key, [...(tasksByOwner.get(key) ?? []), task]);
    }
    const rank = (/** @type {Member} */ { handle, isLive, hasEnded }) => {
      if (team && isSameName(handle, team.leader)) return 0;
      if (hasEnded) return 3;
      return isLive ? 1 : 2;
    };
    const sorted = [...members].sort((one, other) => rank(one) - rank(other) || (one.handle < other.handle ? -1 : 1));
    rows = renderRows(sorted.slice(0, maxRows));
    empty.hidden = team !== null;
    more.hidden = sorted.length <= maxRows;
    setText(more, `Show all ${counted(sorted.length, 'member')}`);
    const live = members.filter(({ isLive, hasEnded }) => isLive && !hasEnded).length;
    setText(count, members.length > 0 ? `${live} live of ${members.length}` : '');
  }

  everySecond(() => {
    const now = model.now();
    for (const row of rows.values()) row.tick(now);
  });
  model.subscribe((changed) => {
    if (changed.has('board') || changed.has('place')) render();
  });
  render();
}

/** @param {Model} model @param {string} handle @param {string} login @param {() => Task[]} tasksOfMember */
function memberRow(model, handle, login, tasksOfMember) {
  /** @type {number | null} */
  let lastSeen = null;
  const mark = memberBadge(model);
  const seen = moment();
  const role = make('span', { class: 'member-role' });
  const status = make('span', { class: 'member-standing' });
  const never = make('span', {}, 'never seen');
  const inbox = make('button', { type: 'button', class: 'quiet member-inbox', onclick: toggleInbox });
  const taskList = make('ul', { class: 'member-tasks' });
  const loginNote = isSameName(login, handle) ? null : make('span', { class: 'agent-user' }, ` ${login}`);
  const node = make('li', { class: 'member', 'data-handle': handle },
    mark.node,
    make('div', { class: 'agent-text' },
      make('div', { class: 'agent-head' }, make('strong', { class: 'agent-name' }, handle, loginNote), role, inbox),
      make('p', { class: 'agent-notes' }, status, seen.node, never),
      taskList));
  const renderTasks = keyedChildren(taskList, (/** @type {Task} */ { id }) => id, ({ id }) => {
    const button = taskButton(model, id);
    return { node: make('li', {}, button.node), update: (/** @type {Task} */ next) => button.update(next) };
  });

  function isInboxOpen() {
    return isSameName(handle, model.state.place.inbox);
  }

  function toggleInbox() {
    model.go({ inbox: isInboxOpen() ? null : handle, team: model.state.board.name });
  }

  /** @param {number} now */
  function tick(now) {
    seen.node.hidden = lastSeen === null;
    never.hidden = lastSeen !== null;
    if (lastSeen !== null) seen.update(lastSeen, now);
  }

  return {
    node,
    tick,
    /** @param {Member} member */
    update(member) {
      ({ lastSeen } = member);
      const { team } = model.state.board;
      const state = member.hasEnded ? 'stopped' : member.isLive ? 'live' : 'away';
      const unread = member.unread > 0 ? `${member.unread.toLocaleString('en-US')} unread` : '';
      const tasks = tasksOfMember();
      mark.update(handle);
      setText(role, team && isSameName(handle, team.leader) ? 'leads' : '');
      setAttribute(node, 'data-state', state);
      setText(status, STATE_WORDS[state]);
      setText(inbox, unread || 'Inbox');
      inbox.classList.toggle('has-unread', unread !== '');
      setAttribute(inbox, 'aria-pressed', String(isInboxOpen()));
      setAttribute(inbox, 'aria-label', `Inbox of ${handle}${unread && `, ${unread}`}`);
      renderTasks(tasks);
      taskList.hidden = tasks.length === 0;
      tick(model.now());
    },
  };
}
