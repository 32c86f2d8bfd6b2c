// The commands of the keys. No elements.

/**
 * @typedef {'search' | 'zoom_in' | 'zoom_out' | 'reset' | 'map' | 'table' | 'board' | 'help' | 'close' | 'left'
 *   | 'right' | 'up' | 'down'} Command
 */

/** @type {Map<string, Command>} */
const COMMANDS = new Map([
  ['/', 'search'], ['+', 'zoom_in'], ['=', 'zoom_in'], ['-', 'zoom_out'], ['0', 'reset'],
  ['m', 'map'], ['t', 'table'], ['b', 'board'], ['?', 'help'], ['Escape', 'close'],
  ['ArrowLeft', 'left'], ['ArrowRight', 'right'], ['ArrowUp', 'up'], ['ArrowDown', 'down'],
]);

/** For the help: the keys, and their effects. */
export const KEY_HELP = [
  { keys: ['/'], effect: 'Search files, folders and holders; on the board, tasks too' },
  {
    keys: ['\u2190', '\u2191', '\u2192', '\u2193'],
    effect: 'On the map: select the next file. In a table: move between rows. On the board: move between tasks',
  },
  { keys: ['+', '\u2212', '0'], effect: 'On the map: zoom in, zoom out, show everything' },
  { keys: ['m', 't', 'b'], effect: 'Map, table (of the files, or of the tasks of the board), board' },
  { keys: ['Esc'], effect: 'Close the details, deselect the agent, the intent or the inbox, clear the search' },
  { keys: ['?'], effect: 'This help' },
];

/**
 * @param {{ key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean, isTyping: boolean }} press
 * @returns {Command | null}
 */
export function commandOf({ key, ctrlKey, metaKey, altKey, isTyping }) {
  if (isTyping || ctrlKey || metaKey || altKey) return null;
  return COMMANDS.get(key.length === 1 ? key.toLowerCase() : key) ?? null;
}

/**
 * @param {{ tagName?: string, isContentEditable?: boolean, type?: string } | null} target
 * @returns {boolean} Whether the element takes keys as text.
 */
export function isTypedInto(target) {
  if (!target) return false;
  if (target.isContentEditable || target.tagName === 'TEXTAREA' || target.tagName === 'SELECT') return true;
  return target.tagName === 'INPUT' && !['checkbox', 'radio', 'button', 'submit'].includes(target.type ?? '');
}

/**
 * The next file in the order of the paths. After the last file comes the first.
 * @param {{ path: string }[]} files
 * @param {number | undefined} index Of the selected file.
 * @param {1 | -1} step
 * @param {(path: string) => boolean} isShown
 * @returns {string | null}
 */
export function nextFile(files, index, step, isShown) {
  const { length } = files;
  const from = index ?? (step === 1 ? -1 : 0);
  for (let offset = 1; offset <= length; offset++) {
    const next = (((from + step * offset) % length) + length) % length;
    if (isShown(files[next].path)) return files[next].path;
  }
  return null;
}
