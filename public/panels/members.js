// The members of a team: the tasks of each, when it was last seen, and its unread messages.

import { keyedChildren, makeButton, makeElement, setAttribute, setText } from '../app/dom.js';
import { formatCount } from '../app/formatting.js';
import { isHeld } from '../app/tasks.js';
import { isSameName } from '../app/teams.js';
import { memberBadge, panelHead, taskButton, timeLabel } from './elements.js';
import { onTick } from './ticker.js';

/** @import { Model } from '../app/types.js' */
/** @import { Member, Task } from '../app/team_types.js' */

const FIRST = 100;
const STATE_WORDS = { live: 'Live, seen', away: 'Away, seen', stopped: 'Has stopped, seen' };

/** @param {HTMLElement} element @param {Model} model */
export function mountMembers(element, model) {
  const count = makeElement('span', { class: 'count' });
  const list = makeElement('ul');
  const empty = makeElement('p', { class: 'empty' }, 'Reading the members');
  const more = makeButton({ class: 'quiet', onclick: showAll });
  element.classList.add('panel', 'members');
  element.append(panelHead(['Members ', count]), empty, list, more);
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
    const sorted = [...members].sort((a, b) => rank(a) - rank(b) || (a.handle < b.handle ? -1 : 1));
    rows = renderRows(sorted.slice(0, maxRows));
    empty.hidden = team !== null;
    more.hidden = sorted.length <= maxRows;
    setText(more, `Show all ${formatCount(sorted.length, 'member')}`);
    const live = members.filter(({ isLive, hasEnded }) => isLive && !hasEnded).length;
    setText(count, members.length > 0 ? `${live} live of ${members.length}` : '');
  }

  onTick(() => {
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
  const seen = timeLabel();
  const role = makeElement('span', { class: 'member-role' });
  const status = makeElement('span', { class: 'member-status' });
  const never = makeElement('span', {}, 'never seen');
  const inbox = makeButton({ class: 'quiet member-inbox', onclick: toggleInbox });
  const taskList = makeElement('ul', { class: 'member-tasks' });
  const loginNote = isSameName(login, handle) ? null : makeElement('span', { class: 'agent-user' }, ` ${login}`);
  const name = makeElement('strong', { class: 'agent-name' }, handle, loginNote);
  const node = makeElement('li', { class: 'member', 'data-handle': handle },
    mark.node,
    makeElement('div', { class: 'agent-text' },
      makeElement('div', { class: 'agent-head' }, name, role, inbox),
      makeElement('p', { class: 'agent-notes' }, status, seen.node, never),
      taskList));
  const renderTasks = keyedChildren(taskList, (/** @type {Task} */ { id }) => id, ({ id }) => {
    const button = taskButton(model, id);
    return { node: makeElement('li', {}, button.node), update: (/** @type {Task} */ next) => button.update(next) };
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
