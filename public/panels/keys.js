// The keys of the whole page. They have no effect while the user types, or if an element handles the key itself.

import { isBoard } from '../app/address.js';
import { textFilter } from '../app/formatting.js';
import { commandOf, isTypedInto, nextFile } from './key_commands.js';

const ZOOM = 1.4;

/**
 * @param {object} parts
 * @param {import('../app/types.js').Model} parts.model
 * @param {{ zoomBy: (factor: number) => void, reset: () => void, focusFile: (path: string) => void }} parts.map
 * @param {{ focus: () => void }} parts.search
 * @param {{ open: () => void }} parts.help
 */
export function mountKeys({ model, map, search, help }) {
  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const isHandled = event.defaultPrevented || event.isComposing;
    if (isHandled || document.querySelector('dialog[open], :popover-open')) return;
    const target = /** @type {HTMLElement} */ (event.target);
    const { key, ctrlKey, metaKey, altKey } = event;
    const command = commandOf({ key, ctrlKey, metaKey, altKey, isTyping: isTypedInto(target) });
    if (command && run(command, target)) event.preventDefault();
  }

  /**
   * @param {import('./key_commands.js').Command} command
   * @param {HTMLElement} target
   * @returns {boolean} Whether the key had an effect.
   */
  function run(command, target) {
    const { place } = model.state;
    const isMap = place.view === 'map';
    switch (command) {
      case 'search': search.focus(); return true;
      case 'help': help.open(); return true;
      case 'map': model.go({ view: 'map' }); return true;
      case 'table': model.go({ view: isBoard(place) ? 'tasks' : 'table' }); return true;
      case 'board': return openBoard();
      case 'zoom_in': if (isMap) map.zoomBy(ZOOM); return isMap;
      case 'zoom_out': if (isMap) map.zoomBy(1 / ZOOM); return isMap;
      case 'reset': if (isMap) map.reset(); return isMap;
      case 'close': return closeSelection();
      default: return isMap && isOnMap(target) && selectNextFile(command);
    }
  }

  /** A repository without teams has no board to open. */
  function openBoard() {
    const { phase } = model.state.teams;
    if (phase !== 'shown' && phase !== 'sign_in') return false;
    model.go({ view: 'board' });
    return true;
  }

  function closeSelection() {
    const { file, task, inbox, intent, agent, filter } = model.state.place;
    const onBoard = isBoard(model.state.place);
    if (file !== null) model.go({ file: null });
    else if (onBoard && task !== null) model.go({ task: null });
    else if (onBoard && inbox !== null) model.go({ inbox: null });
    else if (!onBoard && intent !== null) model.go({ intent: null });
    else if (!onBoard && agent !== null) model.go({ agent: null });
    else if (filter) model.go({ filter: '' }, true);
    else return false;
    return true;
  }

  /** Outside the map, arrow keys scroll. @param {HTMLElement} target */
  function isOnMap(target) {
    return target === document.body || target.closest('#map') !== null;
  }

  /** @param {import('./key_commands.js').Command} direction */
  function selectNextFile(direction) {
    const { graph, place } = model.state;
    if (!graph) return false;
    const step = direction === 'right' || direction === 'down' ? 1 : -1;
    const path = nextFile(graph.files, graph.indexOf.get(place.file ?? ''), step, textFilter(place.filter));
    if (path === null) return false;
    // Steps replace one another in the history, so that going back leads to where they began.
    model.go({ file: path }, place.file !== null);
    map.focusFile(path);
    return true;
  }

  document.addEventListener('keydown', onKey);
}
