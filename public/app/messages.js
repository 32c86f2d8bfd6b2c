// The messages of a team as the page shows them. Nothing here changes what it is given.

/** @typedef {import('./team_types.js').Message} Message */
/** @typedef {import('./team_types.js').Mail} Mail */

/** Most messages that are kept. */
export const MOST_MESSAGES = 1000;

/** @param {string | null} [team] @param {string | null} [inbox] @returns {Mail} */
export function unreadMail(team = null, inbox = null) {
  return { team, inbox, messages: null, earlier: null, message: null };
}

/** @param {any} view A message of `GET /api/messages`. @returns {Message} */
export function readMessage(view) {
  return {
    id: view.id,
    from: view.from ?? '',
    login: view.login ?? '',
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
 * @param {any} body The newest page of `GET /api/messages`: what is known of older ones stays, unless messages may lie between.
 * @returns {Mail}
 */
export function withNewest(mail, body) {
  const fresh = body.messages.map(readMessage);
  const known = mail.messages ?? [];
  const oldest = fresh.at(-1)?.id ?? 0;
  const older = known.filter(({ id }) => id < oldest);
  const isJoined = body.earlier === undefined || known.some(({ id }) => id >= oldest);
  if (!isJoined || older.length === 0) return { ...mail, messages: fresh, earlier: body.earlier ?? null, message: null };
  const messages = [...fresh, ...older].slice(0, MOST_MESSAGES);
  return { ...mail, messages, earlier: mail.earlier, message: null };
}

/** @param {Mail} mail @param {any} body An older page. @returns {Mail} */
export function withOlder(mail, body) {
  const known = new Set((mail.messages ?? []).map(({ id }) => id));
  const older = body.messages.map(readMessage).filter((/** @type {Message} */ { id }) => !known.has(id));
  const messages = [...(mail.messages ?? []), ...older];
  return { ...mail, messages, earlier: messages.length < MOST_MESSAGES ? body.earlier ?? null : null, message: null };
}

/**
 * @typedef {{ id: number, root: number | null, messages: Message[] }} Thread `root`: the message that the first one replies to, where that is not there.
 * @param {Message[]} messages The newest first.
 * @returns {Thread[]} Messages with their replies, the oldest first in each; the thread with the newest message is first.
 */
export function threadsOf(messages) {
  const known = new Map(messages.map((message) => [message.id, message]));
  /** @type {Map<number, Thread>} By the number of its first message, or of the one that is missing. */
  const threads = new Map();
  for (const message of messages) {
    let { id, replyTo } = message;
    // A reply has a higher number than what it replies to, so that this ends.
    while (replyTo !== null && replyTo < id) {
      id = replyTo;
      replyTo = known.get(id)?.replyTo ?? null;
    }
    const thread = threads.get(id);
    if (thread) thread.messages.unshift(message);
    else threads.set(id, { id, root: known.has(id) ? null : id, messages: [message] });
  }
  return [...threads.values()];
}
