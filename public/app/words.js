// Numbers in words, and the filter by words.

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB'];

/** @param {number} count @param {string} noun @param {string} [plural] @returns {string} */
export function counted(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : plural}`;
}

/** @param {number} bytes @returns {string} */
export function byteSize(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

/** @param {string} filter Words that a path must contain, in any order and case. @returns {(text: string) => boolean} */
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

/** @param {string[]} names @param {number} [most] @returns {string} Such as `a, b and 3 more`. */
export function listed(names, most = 1) {
  const rest = names.length - most;
  return rest > 0 ? `${names.slice(0, most).join(', ')} and ${rest} more` : names.join(' and ');
}
