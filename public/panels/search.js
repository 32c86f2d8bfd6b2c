// The search: a combobox over files, folders and holders, and over tasks on the board. What is typed is also the filter of what is shown.

import { isBoard } from '../app/address.js';
import { icon, make, setAttribute } from '../app/dom.js';
import { badge, modeOf, pathText } from './parts.js';
import { search, searchIndex, searchTasks } from './search_ranking.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('./search_ranking.js').Match} Match */

const FILTER_DELAY_MS = 120;
const LABELS = { task: 'Tasks', file: 'Files', folder: 'Folders', holder: 'Holders' };

/**
 * @param {HTMLElement} element
 * @param {Model} model
 * @param {{ zoomTo?: (path: string) => void }} [options] `zoomTo` is called with the file or folder that was chosen.
 */
export function mountSearch(element, model, { zoomTo } = {}) {
  /** @type {Match[]} */
  let matches = [];
  let active = -1;
  let timer = 0;
  /** @type {{ graph: unknown, index: import('./search_ranking.js').SearchIndex } | null} */
  let indexed = null;

  const input = /** @type {HTMLInputElement} */ (make('input', {
    type: 'text', role: 'combobox', class: 'search-input',
    'aria-expanded': 'false', 'aria-controls': 'search-matches', 'aria-autocomplete': 'list', 'aria-keyshortcuts': '/', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
    oninput: onInput, onkeydown: onKey, onfocus: open, onblur: close,
  }));
  const hint = make('kbd', { class: 'search-hint', 'aria-hidden': 'true' }, '/');
  const clear = make('button', { type: 'button', class: 'icon-button search-clear', 'aria-label': 'Clear the search', onclick: () => { setFilter(''); input.focus(); } }, icon('close'));
  const list = make('div', { class: 'search-matches', id: 'search-matches', role: 'listbox', 'aria-label': 'Matches', hidden: true, onmousedown: (/** @type {Event} */ event) => event.preventDefault() });
  const status = make('span', { class: 'unseen', role: 'status' });
  element.classList.add('search');
  element.append(make('div', { class: 'search-box' }, icon('search'), input, hint, clear), list, status);

  function index() {
    const { graph } = model.state;
    if (!indexed || indexed.graph !== graph) indexed = { graph, index: searchIndex(graph ? graph.files.map(({ path }) => path) : []) };
    return indexed.index;
  }

  /** @param {string} filter */
  function setFilter(filter) {
    window.clearTimeout(timer);
    input.value = filter;
    mark();
    close();
    model.go({ filter }, true);
  }

  function mark() {
    clear.hidden = input.value === '';
    hint.hidden = input.value !== '';
  }

  function onInput() {
    mark();
    open();
    window.clearTimeout(timer);
    timer = window.setTimeout(() => model.go({ filter: input.value.trim() }, true), FILTER_DELAY_MS);
  }

  function open() {
    const query = input.value.trim();
    const tasks = query && isBoard(model.state.place) ? searchTasks(model.state.board.tasks, query) : [];
    matches = query ? [...tasks, ...search(index(), model.state.agents.map(({ holder }) => holder), query, model.state.locks)] : [];
    active = matches.length > 0 ? 0 : -1;
    status.textContent = query ? (matches.length > 0 ? `${matches.length} matches` : 'No match') : '';
    list.replaceChildren(...rows(), ...(query && matches.length === 0 ? [make('p', { class: 'search-none soft' }, isBoard(model.state.place) ? 'No task, file, folder or holder matches.' : 'No file, folder or holder matches.')] : []));
    list.hidden = !query;
    setAttribute(input, 'aria-expanded', String(matches.length > 0));
    activate(active);
  }

  function close() {
    list.hidden = true;
    setAttribute(input, 'aria-expanded', 'false');
    setAttribute(input, 'aria-activedescendant', null);
  }

  function rows() {
    return ['task', 'file', 'folder', 'holder'].flatMap((type) => {
      const options = matches.flatMap((match, place) => (match.type === type ? [option(match, place)] : []));
      const label = LABELS[/** @type {Match['type']} */ (type)];
      return options.length > 0 ? [make('div', { role: 'group', 'aria-label': label }, make('div', { class: 'search-group', 'aria-hidden': 'true' }, label), ...options)] : [];
    });
  }

  /** @param {Match} match @param {number} place */
  function option({ type, value }, place) {
    const agent = type === 'holder' ? model.state.agents.find(({ holder }) => holder === value) : null;
    const mode = type === 'file' ? modeOf(model.state, value) : null;
    return make('div', { role: 'option', class: 'search-option', id: `search-match-${place}`, 'aria-selected': 'false', title: value, onclick: () => choose(place) },
      agent ? badge(value, agent.agentId, agent.userName) : null,
      type === 'holder' ? make('span', {}, value) : type === 'task' ? taskText(value) : pathText(type === 'folder' ? value.slice(0, -1) : value),
      mode ? make('span', { class: 'mode', 'data-mode': mode }, mode) : null);
  }

  /** @param {string} id */
  function taskText(id) {
    return make('span', { class: 'search-task' }, make('code', {}, id), ' ', model.state.board.tasks.get(id)?.title ?? '');
  }

  /** @param {number} place */
  function activate(place) {
    active = place;
    for (const node of list.querySelectorAll('[role=option]')) {
      const isActive = node.id === `search-match-${place}`;
      setAttribute(node, 'aria-selected', String(isActive));
      if (isActive) node.scrollIntoView({ block: 'nearest' });
    }
    setAttribute(input, 'aria-activedescendant', place >= 0 ? `search-match-${place}` : null);
  }

  /** @param {number} place */
  function choose(place) {
    const { type, value } = matches[place];
    window.clearTimeout(timer);
    if (type === 'task') {
      input.value = '';
      mark();
      close();
      model.go({ team: model.state.board.name, task: value, filter: '' });
      return;
    }
    if (type === 'folder') {
      setFilter(value);
      zoomTo?.(value.slice(0, -1));
      return;
    }
    const path = type === 'file' ? value : model.state.agents.find(({ holder }) => holder === value)?.locks[0]?.path;
    input.value = '';
    mark();
    close();
    model.go(path ? { file: path, filter: '' } : { filter: '' });
    if (type === 'holder') document.querySelector(`[data-holder="${CSS.escape(value)}"]`)?.scrollIntoView({ block: 'nearest' });
    if (path) zoomTo?.(path);
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.isComposing) return;
    const isOpen = !list.hidden && matches.length > 0;
    if (event.key === 'Escape') {
      if (input.value) setFilter('');
      else input.blur();
    } else if (isOpen && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      activate((active + (event.key === 'ArrowDown' ? 1 : matches.length - 1)) % matches.length);
    } else if (event.key === 'ArrowDown') {
      open();
    } else if (isOpen && event.key === 'Enter') {
      choose(active);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** What can be found is said by the field. */
  function nameIt() {
    const things = isBoard(model.state.place) ? 'tasks, files, holders' : 'files, folders, holders';
    setAttribute(input, 'placeholder', `Search ${things}`);
    setAttribute(input, 'aria-label', `Search ${things.replace(/, (\w+)$/, ' and $1')}`);
  }

  const unsubscribe = model.subscribe((changed) => {
    if (changed.has('place')) nameIt();
    if (changed.has('place') && document.activeElement !== input && input.value !== model.state.place.filter) {
      input.value = model.state.place.filter;
      mark();
    }
  });
  input.value = model.state.place.filter;
  mark();
  nameIt();
  return {
    focus() {
      input.focus();
      input.select();
    },
    destroy() {
      window.clearTimeout(timer);
      unsubscribe();
    },
  };
}
