// The messages of a team as the page shows them. Functions change no argument.

/** @import { Mail, Message } from './team_types.js' */

/** Maximum number of messages that the page keeps. */
const MAX_MESSAGES = 1000;

/** @param {string | null} [team] @param {string | null} [inbox] @returns {Mail} */
export function emptyMail(team = null, inbox = null) {
  return { team, inbox, messages: null, earlier: null, message: null };
}

/** @param {any} view A message of `GET /api/messages`. @returns {Message} */
function readMessage(view) {
  return {
    id: view.id,
    from: view.from ?? '',
    to: view.to === 'broadcast' ? [] : view.recipients ?? [view.to],
    text: view.message,
    summary: view.summary ?? '',
    kind: view.type,
    at: Date.parse(view.timestamp),
    task: view.task_id ?? null,
    replyTo: view.reply_to ?? null,
    unreadBy: view.unread_by ?? [],
    unreadCount: view.unread_count ?? 0,
  };
}

/**
 * @param {Mail} mail
 * @param {any} body The newest page of `GET /api/messages`.
 * @returns {Mail} With the older messages that are already there, unless messages may be missing between them.
 */
export function withNewest(mail, body) {
  const newest = body.messages.map(readMessage);
  const before = mail.messages ?? [];
  const oldestId = newest.at(-1)?.id ?? 0;
  const older = before.filter(({ id }) => id < oldestId);
  const isJoined = body.earlier === undefined || before.some(({ id }) => id >= oldestId);
  if (!isJoined || older.length === 0) {
    return { ...mail, messages: newest, earlier: body.earlier ?? null, message: null };
  }
  return { ...mail, messages: [...newest, ...older].slice(0, MAX_MESSAGES), message: null };
}

/** @param {Mail} mail @param {any} body An older page. @returns {Mail} */
export function withOlder(mail, body) {
  const before = mail.messages ?? [];
  const ids = new Set(before.map(({ id }) => id));
  const older = body.messages.map(readMessage).filter((/** @type {Message} */ { id }) => !ids.has(id));
  const messages = [...before, ...older];
  return { ...mail, messages, earlier: messages.length < MAX_MESSAGES ? body.earlier ?? null : null, message: null };
}

/**
 * `root`: the id of the message that the first message replies to, if the page does not have it.
 * @typedef {{ id: number, root: number | null, messages: Message[] }} Thread
 * @param {Message[]} messages The newest first.
 * @returns {Thread[]} Messages with their replies, the oldest first. The thread with the newest message is first.
 */
export function threadsOf(messages) {
  const byId = new Map(messages.map((message) => [message.id, message]));
  /** By the id of its first message, or of the missing one. @type {Map<number, Thread>} */
  const threads = new Map();
  for (const message of messages) {
    let { id, replyTo } = message;
    // This ends: the id of a reply is greater than the id of its message.
    while (replyTo !== null && replyTo < id) {
      id = replyTo;
      replyTo = byId.get(id)?.replyTo ?? null;
    }
    const thread = threads.get(id);
    if (thread) thread.messages.unshift(message);
    else threads.set(id, { id, root: byId.has(id) ? null : id, messages: [message] });
  }
  return [...threads.values()];
}
