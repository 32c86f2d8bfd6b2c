// The messages of a team, or from and to one of its members, thread by thread. They are read only while they are on the screen.

import { keyedChildren, make, setText } from '../app/dom.js';
import { threadsOf } from '../app/messages.js';
import { messageThread } from './message_thread.js';
import { olderRows } from './older.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/messages.js').Thread} Thread */
/** @typedef {{ handle: string, unread: number }} Inbox */

/** @param {HTMLElement} element @param {Model} model */
export function mountMessages(element, model) {
  const select = /** @type {HTMLSelectElement} */ (make('select', { 'aria-label': 'Inbox', onchange: () => model.go({ inbox: select.value || null, team: model.state.board.name }) }));
  const list = make('ol', { class: 'feed-list' });
  const older = olderRows({ rows: 'messages', whole: 'The messages', load: () => model.lengthenMail(), render });
  const scroller = make('div', { class: 'feed-scroller', tabindex: '0', role: 'region', 'aria-label': 'Messages, the newest first' }, list, older.button, older.end);
  element.classList.add('panel', 'activity', 'messages');
  element.append(make('div', { class: 'panel-head' }, make('h2', { class: 'panel-title' }, 'Messages')), make('div', { class: 'feed-filter' }, select), make('div', { class: 'feed-frame' }, scroller));
  /** @type {Map<number, ReturnType<typeof messageThread>>} */
  const rows = new Map();
  const renderThreads = keyedChildren(list, (/** @type {Thread} */ { id }) => String(id), (thread) => {
    const row = messageThread(model);
    rows.set(thread.id, row);
    return row;
  });
  const renderInboxes = keyedChildren(select, (/** @type {Inbox} */ { handle }) => handle, ({ handle }) => {
    const option = make('option', { value: handle });
    return { node: option, update: (/** @type {Inbox} */ { unread }) => setText(option, !handle ? 'All messages' : unread > 0 ? `${handle} (${unread} unread)` : handle) };
  });

  function render() {
    const { mail, board } = model.state;
    const members = board.team?.members ?? [];
    const chosen = members.find(({ handle }) => handle.toLowerCase() === mail.inbox?.toLowerCase());
    const others = mail.inbox !== null && !chosen ? [{ handle: mail.inbox, unread: 0 }] : [];
    renderInboxes([{ handle: '', unread: 0 }, ...members, ...others]);
    select.value = chosen?.handle ?? mail.inbox ?? '';
    select.classList.toggle('is-set', mail.inbox !== null);
    const threads = threadsOf(mail.messages ?? []);
    const known = new Set(threads.map(({ id }) => id));
    for (const id of rows.keys()) if (!known.has(id)) rows.delete(id);
    renderThreads(threads);
    older.button.hidden = mail.earlier === null;
    older.say(endOf());
  }

  /** @returns {string} */
  function endOf() {
    const { messages, message, inbox, earlier } = model.state.mail;
    if (message) return `The messages are out of date: ${message}`;
    if (messages === null) return 'Reading the messages';
    if (messages.length > 0) return '';
    if (earlier !== null) return 'None of the newest messages are from or to this member.';
    return inbox ? `Nothing was sent by ${inbox} or to it.` : 'Nothing has been said in this team yet.';
  }

  const observer = new IntersectionObserver((entries) => model.followMail(entries[entries.length - 1].isIntersecting));
  observer.observe(element);
  let beat = 0;
  const endTicks = everySecond(() => {
    beat += 1;
    if (beat % 10 === 0) for (const row of rows.values()) row.tick(model.now());
  });
  const unsubscribe = model.subscribe((changed) => {
    if (changed.has('mail')) older.forget();
    if (changed.has('mail') || changed.has('board') || changed.has('place')) render();
  });
  render();
  return {
    destroy() {
      observer.disconnect();
      endTicks();
      unsubscribe();
    },
  };
}
