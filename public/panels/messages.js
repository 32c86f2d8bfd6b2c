// The messages of a team, or from and to one of its members, in threads. The page reads them only while they are on the
// screen.

import { keyedChildren, makeElement, setText } from '../app/dom.js';
import { threadsOf } from '../app/messages.js';
import { isSameName } from '../app/teams.js';
import { panelHead } from './elements.js';
import { messageThread } from './message_thread.js';
import { olderRows } from './older_rows.js';
import { onTick } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/messages.js').Thread} Thread */
/** @typedef {{ handle: string, unread: number }} Inbox */

/** Interval of drawing the ages of the messages. */
const REDRAW_SECONDS = 10;

/** @param {HTMLElement} element @param {Model} model */
export function mountMessages(element, model) {
  const onchange = () => model.go({ inbox: select.value || null, team: model.state.board.name });
  const select = makeElement('select', { 'aria-label': 'Inbox', onchange });
  const list = makeElement('ol');
  const older = olderRows({
    list, label: 'Messages, the newest first', rows: 'messages', subject: 'The messages',
    load: () => model.loadOlderMessages(), render,
  });
  element.classList.add('panel', 'activity');
  element.append(panelHead(['Messages']), makeElement('div', { class: 'feed-filter' }, select), older.frame);
  const keyOf = (/** @type {Thread} */ { id }) => String(id);
  const renderThreads = keyedChildren(list, keyOf, () => messageThread(model));
  let rows = renderThreads([]);
  const renderInboxes = keyedChildren(select, (/** @type {Inbox} */ { handle }) => handle, ({ handle }) => {
    const option = makeElement('option', { value: handle });
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
  onTick(() => {
    for (const row of rows.values()) row.tick(model.now());
  }, REDRAW_SECONDS);
  model.subscribe((changed) => {
    if (changed.has('mail')) older.clearProblem();
    if (changed.has('mail') || changed.has('board') || changed.has('place')) render();
  });
  render();
}
