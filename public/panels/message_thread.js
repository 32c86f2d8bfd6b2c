// A message with its replies.

import { keyedChildren, makeElement, setText } from '../app/dom.js';
import { MESSAGE_LABELS } from '../app/team_labels.js';
import { entryRow, memberBadge, taskButton, timeLabel } from './elements.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').Message} Message */

/** @param {Model} model */
export function messageThread(model) {
  const missing = makeElement('p', { class: 'soft thread-missing' });
  const list = makeElement('ol', { class: 'thread' });
  const node = makeElement('li', { class: 'entry-thread' }, missing, list);
  const keyOf = (/** @type {Message} */ { id }) => String(id);
  const render = keyedChildren(list, keyOf, (message) => messageRow(model, message));
  let rows = render([]);
  return {
    node,
    /** @param {import('../app/messages.js').Thread} thread */
    update({ root, messages }) {
      setText(missing, root === null ? '' : `In reply to message ${root}`);
      missing.hidden = root === null;
      rows = render(messages);
    },
    /** @param {number} now */
    tick(now) {
      for (const row of rows.values()) row.tick(now);
    },
  };
}

/** @param {Model} model @param {Message} message Only its readers change. */
function messageRow(model, { from, to, text, summary, kind, at, task }) {
  const time = timeLabel();
  const unread = makeElement('span');
  const button = task === null ? null : taskButton(model, task);
  const mark = memberBadge(model);
  const sender = makeElement('strong', {}, from || 'Coord');
  const recipients = makeElement('strong', { title: to.join(', ') }, recipientsOf(to));
  const senderMark = from ? mark.node : makeElement('span', { class: 'badge badge-none', 'aria-hidden': 'true' });
  const attributes = { class: 'entry message', 'data-kind': kind };
  const node = entryRow(attributes, senderMark, [sender, ' to ', recipients], [time.node],
    kind === 'plain' ? null : makeElement('p', { class: 'message-kind' }, MESSAGE_LABELS[kind] ?? kind),
    summary ? makeElement('p', { class: 'message-summary' }, summary) : null,
    makeElement('p', { class: 'message-text' }, text),
    button?.node,
    makeElement('p', { class: 'entry-detail' }, unread));
  const tick = (/** @type {number} */ now) => time.update(at, now);
  return {
    node,
    tick,
    /** @param {Message} next */
    update({ unreadBy, unreadCount }) {
      if (from) mark.update(from);
      const more = unreadCount > unreadBy.length ? ` and ${unreadCount - unreadBy.length} more` : '';
      setText(unread, unreadCount > 0 ? `Not read by ${unreadBy.join(', ')}${more}` : '');
      button?.update(model.state.board.tasks.get(task ?? ''));
      tick(model.now());
    },
  };
}

/** @param {string[]} handles @returns {string} */
function recipientsOf(handles) {
  if (handles.length === 0) return 'all';
  const more = handles.length - 3;
  return more > 0 ? `${handles.slice(0, 3).join(', ')} and ${more} more` : handles.join(', ');
}
