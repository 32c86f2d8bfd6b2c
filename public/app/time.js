/**
 * @param {number} ms A duration.
 * @returns {string} `m:ss`, or `h:mm:ss` from an hour on. Never negative.
 */
export function countdown(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = twoDigits(seconds % 60);
  return hours ? `${hours}:${twoDigits(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** @param {number} number */
function twoDigits(number) {
  return String(number).padStart(2, '0');
}

/**
 * @param {number} ms A duration.
 * @returns {string} Such as `12 s`, `3 min`, `2 h` or `5 d`.
 */
export function duration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

/**
 * @param {number} ms The duration since.
 * @returns {string} Such as `3 min ago`.
 */
export function ago(ms) {
  return ms < 5000 ? 'just now' : `${duration(ms)} ago`;
}

/**
 * @param {number} ms Milliseconds since 1970.
 * @param {number} [now] On the same day, the date is omitted.
 * @returns {string} Local time, such as `14:03:09` or `2026-11-23 14:03:09`.
 */
export function timeOfDay(ms, now) {
  const dayOf = (/** @type {Date} */ date) =>
    `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  const date = new Date(ms);
  const time = `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}`;
  return now !== undefined && dayOf(new Date(now)) === dayOf(date) ? time : `${dayOf(date)} ${time}`;
}
