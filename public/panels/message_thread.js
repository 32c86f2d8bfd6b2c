// A message with its replies.

import { keyedChildren, make, setText } from '../app/dom.js';
import { KIND_WORDS } from '../app/team_words.js';
import { memberBadge, moment, taskButton } from './parts.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').Message} Message */

/** @param {Model} model */
export function messageThread(model) {
  const missing = make('p', { class: 'soft thread-missing' });
  const list = make('ol', { class: 'thread' });
  const node = make('li', { class: 'entry-thread' }, missing, list);
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
  const time = moment();
  const unread = make('span', {});
  const button = task === null ? null : taskButton(model, task);
  const mark = memberBadge(model);
  const sender = make('strong', {}, from || 'Coord');
  const recipients = make('strong', { title: to.join(', ') }, recipientsOf(to));
  const node = make('li', { class: 'entry message', 'data-kind': kind },
    from ? mark.node : make('span', { class: 'badge badge-none', 'aria-hidden': 'true' }),
    make('div', { class: 'entry-text' },
      make('div', { class: 'entry-head' },
        make('span', { class: 'entry-deed' }, sender, ' to ', recipients), time.node),
      kind === 'plain' ? null : make('p', { class: 'message-kind' }, KIND_WORDS[kind] ?? kind),
      summary ? make('p', { class: 'message-summary' }, summary) : null,
      make('p', { class: 'message-text' }, text),
      button?.node,
      make('p', { class: 'entry-detail' }, unread)));
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
