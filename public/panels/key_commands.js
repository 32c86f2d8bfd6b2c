// Which key does what. No elements.

/** @typedef {'search' | 'zoom_in' | 'zoom_out' | 'reset' | 'map' | 'table' | 'board' | 'help' | 'close' | 'left' | 'right' | 'up' | 'down'} Command */

/** @type {Map<string, Command>} */
const COMMANDS = new Map([
  ['/', 'search'], ['+', 'zoom_in'], ['=', 'zoom_in'], ['-', 'zoom_out'], ['0', 'reset'], ['m', 'map'], ['t', 'table'], ['b', 'board'], ['?', 'help'], ['Escape', 'close'],
  ['ArrowLeft', 'left'], ['ArrowRight', 'right'], ['ArrowUp', 'up'], ['ArrowDown', 'down'],
]);

/** For the help: the keys, and what they do. */
export const KEY_HELP = [
  { keys: ['/'], does: 'Search files, folders and holders; on the board, tasks too' },
  { keys: ['\u2190', '\u2191', '\u2192', '\u2193'], does: 'On the map: select the next file. In a table: move between rows. On the board: move between tasks' },
  { keys: ['+', '\u2212', '0'], does: 'On the map: zoom in, zoom out, show everything' },
  { keys: ['m', 't', 'b'], does: 'Map, table (of the files, or of the tasks of the board), board' },
  { keys: ['Esc'], does: 'Close the details, deselect the agent, the intent or the inbox, clear the search' },
  { keys: ['?'], does: 'This help' },
];

/**
 * @param {{ key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean, isTyping: boolean }} press
 * @returns {Command | null}
 */
export function commandOf({ key, ctrlKey, metaKey, altKey, isTyping }) {
  if (isTyping || ctrlKey || metaKey || altKey) return null;
  return COMMANDS.get(key.length === 1 ? key.toLowerCase() : key) ?? null;
}

/** Whether keys are text for this element. @param {{ tagName?: string, isContentEditable?: boolean, type?: string } | null} target */
export function isTypedInto(target) {
  if (!target) return false;
  if (target.isContentEditable || target.tagName === 'TEXTAREA' || target.tagName === 'SELECT') return true;
  return target.tagName === 'INPUT' && !['checkbox', 'radio', 'button', 'submit'].includes(target.type ?? '');
}

/**
 * The file after or before one, in the order of the paths; it turns over at the ends.
 * @param {{ path: string }[]} files
 * @param {number | undefined} index Of the selected one.
 * @param {1 | -1} step
 * @param {(path: string) => boolean} isShown
 * @returns {string | null}
 */
export function nextFile(files, index, step, isShown) {
  const from = index ?? (step === 1 ? -1 : 0);
  for (let offset = 1; offset <= files.length; offset++) {
    const place = (((from + step * offset) % files.length) + files.length) % files.length;
    if (isShown(files[place].path)) return files[place].path;
  }
  return null;
}
