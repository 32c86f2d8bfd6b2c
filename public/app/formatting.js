// Numbers, paths and lists as text, and the filter by words.

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB'];

/** @param {number} count @param {string} noun @param {string} [plural] @returns {string} */
export function formatCount(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : plural}`;
}

/** @param {number} bytes @returns {string} */
export function formatBytes(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

/**
 * @param {string} filter Words that a text must contain, in any order and case.
 * @returns {(text: string) => boolean}
 */
export function textFilter(filter) {
  const terms = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => {
    if (terms.length === 0) return true;
    const lower = text.toLowerCase();
    return terms.every((term) => lower.includes(term));
  };
}

/** @param {string} path @returns {string} The part after the last slash. */
export function nameOfPath(path) {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** @param {string} path @returns {[string, string]} Its folder, with the last slash, and its name. */
export function splitPath(path) {
  const nameStart = path.lastIndexOf('/') + 1;
  return [path.slice(0, nameStart), path.slice(nameStart)];
}

/** @param {string[]} names @param {number} [maxNames] @returns {string} Such as `a, b and 3 more`. */
export function formatList(names, maxNames = 1) {
  const more = names.length - maxNames;
  return more > 0 ? `${names.slice(0, maxNames).join(', ')} and ${more} more` : names.join(' and ');
}

/** @param {unknown} error @returns {string} Its message, as a sentence. */
export function errorSentence(error) {
  const message = error instanceof Error ? error.message : String(error);
  return message.endsWith('.') ? message : `${message}.`;
}
