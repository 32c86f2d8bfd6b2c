// The messages of a team, or from and to one of its members, in threads. The page reads them only while they are on the
// screen.

import { keyedChildren, make, setText } from '../app/dom.js';
import { threadsOf } from '../app/messages.js';
import { isSameName } from '../app/teams.js';
import { messageThread } from './message_thread.js';
import { olderRows } from './older.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/messages.js').Thread} Thread */
/** @typedef {{ handle: string, unread: number }} Inbox */

/** @param {HTMLElement} element @param {Model} model */
export function mountMessages(element, model) {
  const onchange = () => model.go({ inbox: select.value || null, team: model.state.board.name });
  const select = /** @type {HTMLSelectElement} */ (make('select', { 'aria-label': 'Inbox', onchange }));
  const list = make('ol', { class: 'feed-list' });
  const older = olderRows({ rows: 'messages', subject: 'The messages', load: () => model.lengthenMail(), render });
  const scroller = make('div', {
    class: 'feed-scroller', tabindex: '0', role: 'region', 'aria-label': 'Messages, the newest first',
  }, list, older.button, older.end);
  element.classList.add('panel', 'activity', 'messages');
  element.append(
    make('div', { class: 'panel-head' }, make('h2', { class: 'panel-title' }, 'Messages')),
    make('div', { class: 'feed-filter' }, select),
    make('div', { class: 'feed-frame' }, scroller));
  const keyOf = (/** @type {Thread} */ { id }) => String(id);
  const renderThreads = keyedChildren(list, keyOf, () => messageThread(model));
  let rows = renderThreads([]);
  const renderInboxes = keyedChildren(select, (/** @type {Inbox} */ { handle }) => handle, ({ handle }) => {
    const option = make('option', { value: handle });
    const labelOf = (/** @type {number} */ unread) => (unread > 0 ? `${handle} (${unread} unread)` : handle);
    return {
      node: option,
      update: (/** @type {Inbox} */ { unread }) => setText(option, handle ? labelOf(unread) : 'All messages'),
    };
  });

  function render() {
    const { mail, board } = model.state;
    const { inbox } = mail;
    const members = board.team?.members ?? [];
    const member = members.find(({ handle }) => isSameName(handle, inbox));
    const unknownInbox = inbox !== null && !member ? [{ handle: inbox, unread: 0 }] : [];
    renderInboxes([{ handle: '', unread: 0 }, ...members, ...unknownInbox]);
    select.value = member?.handle ?? inbox ?? '';
    select.classList.toggle('is-set', inbox !== null);
    rows = renderThreads(threadsOf(mail.messages ?? []));
    older.button.hidden = mail.earlier === null;
    older.setEndText(endText());
  }

  /** @returns {string} */
  function endText() {
    const { messages, message, inbox, earlier } = model.state.mail;
    if (message) return `The messages are out of date: ${message}`;
    if (messages === null) return 'Reading the messages';
    if (messages.length > 0) return '';
    if (earlier !== null) return 'None of the newest messages are from or to this member.';
    return inbox ? `There are no messages from or to ${inbox}.` : 'Nothing has been said in this team yet.';
  }

  const observer = new IntersectionObserver((entries) =>
    model.followMail(entries[entries.length - 1].isIntersecting));
  observer.observe(element);
  let seconds = 0;
  everySecond(() => {
    seconds += 1;
    if (seconds % 10 === 0) for (const row of rows.values()) row.tick(model.now());
  });
  model.subscribe((changed) => {
    if (changed.has('mail')) older.clearProblem();
    if (changed.has('mail') || changed.has('board') || changed.has('place')) render();
  });
  render();
}
