// The search: a combobox for files, folders and holders, and on the board for tasks. The text also filters the view.

import { isBoard } from '../app/address.js';
import { icon, iconButton, makeElement, setAttribute } from '../app/dom.js';
import { badge, modeOf, pathText } from './elements.js';
import { search, searchIndex, searchTasks } from './search_ranking.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('./search_ranking.js').Match} Match */

const FILTER_DELAY_MS = 120;
const LABELS = { task: 'Tasks', file: 'Files', folder: 'Folders', holder: 'Holders' };

/**
 * @param {HTMLElement} element
 * @param {Model} model
 * @param {{ zoomTo: (path: string) => void }} actions `zoomTo` gets the selected file or folder.
 */
export function mountSearch(element, model, { zoomTo }) {
  /** @type {Match[]} */
  let matches = [];
  let active = -1;
  let timer = 0;
  /** @type {{ graph: unknown, index: import('./search_ranking.js').SearchIndex } | null} */
  let cache = null;

  const input = makeElement('input', {
    type: 'text', role: 'combobox', class: 'search-input',
    'aria-expanded': 'false', 'aria-controls': 'search-matches', 'aria-autocomplete': 'list', 'aria-keyshortcuts': '/',
    autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
    oninput: onInput, onkeydown: onKey, onfocus: open, onblur: close,
  });
  const hint = makeElement('kbd', { class: 'search-hint', 'aria-hidden': 'true' }, '/');
  const clear = iconButton('close', {
    class: 'icon-button search-clear', 'aria-label': 'Clear the search', onclick: onClear,
  });
  const list = makeElement('div', {
    class: 'search-matches', id: 'search-matches', role: 'listbox', 'aria-label': 'Matches', hidden: true,
    onmousedown: (/** @type {Event} */ event) => event.preventDefault(),
  });
  const status = makeElement('span', { class: 'unseen', role: 'status' });
  element.classList.add('search');
  element.append(makeElement('div', { class: 'search-box' }, icon('search'), input, hint, clear), list, status);

  function index() {
    const { graph } = model.state;
    if (cache === null || cache.graph !== graph) {
      cache = { graph, index: searchIndex(graph ? graph.files.map(({ path }) => path) : []) };
    }
    return cache.index;
  }

  /** @param {string} text */
  function setInput(text) {
    input.value = text;
    updateHint();
  }

  /** @param {string} filter */
  function setFilter(filter) {
    window.clearTimeout(timer);
    setInput(filter);
    close();
    model.go({ filter }, true);
  }

  function updateHint() {
    clear.hidden = input.value === '';
    hint.hidden = input.value !== '';
  }

  function onClear() {
    setFilter('');
    input.focus();
  }

  function onInput() {
    updateHint();
    open();
    window.clearTimeout(timer);
    timer = window.setTimeout(() => model.go({ filter: input.value.trim() }, true), FILTER_DELAY_MS);
  }

  function open() {
    const query = input.value.trim();
    const { board, agents, locks, place } = model.state;
    const onBoard = isBoard(place);
    const holders = agents.map(({ holder }) => holder);
    const tasks = query && onBoard ? searchTasks(board.tasks, query) : [];
    matches = query ? [...tasks, ...search(index(), holders, query, locks)] : [];
    const hasMatches = matches.length > 0;
    status.textContent = query ? (hasMatches ? `${matches.length} matches` : 'No match') : '';
    if (query && !hasMatches) {
      const kinds = onBoard ? 'task, file, folder or holder' : 'file, folder or holder';
      list.replaceChildren(makeElement('p', { class: 'search-none soft' }, `No ${kinds} matches.`));
    } else list.replaceChildren(...groups());
    list.hidden = !query;
    setAttribute(input, 'aria-expanded', String(hasMatches));
    activate(hasMatches ? 0 : -1);
  }

  function close() {
    list.hidden = true;
    setAttribute(input, 'aria-expanded', 'false');
    setAttribute(input, 'aria-activedescendant', null);
  }

  function groups() {
    return Object.entries(LABELS).flatMap(([type, label]) => {
      const options = matches.flatMap((match, place) => (match.type === type ? [option(match, place)] : []));
      if (options.length === 0) return [];
      const title = makeElement('div', { class: 'search-group', 'aria-hidden': 'true' }, label);
      return [makeElement('div', { role: 'group', 'aria-label': label }, title, ...options)];
    });
  }

  /** @param {Match} match @param {number} place */
  function option(match, place) {
    const mode = match.type === 'file' ? modeOf(model.state, match.value) : null;
    const onclick = () => choose(place);
    return makeElement('div', {
      role: 'option', class: 'search-option', id: `search-match-${place}`, 'aria-selected': 'false',
      title: match.value, onclick,
    }, ...optionContent(match), mode ? makeElement('span', { class: 'mode', 'data-mode': mode }, mode) : null);
  }

  /** @param {Match} match @returns {(HTMLElement | null)[]} */
  function optionContent({ type, value }) {
    switch (type) {
      case 'task': {
        const title = model.state.board.tasks.get(value)?.title ?? '';
        return [makeElement('span', { class: 'search-task' }, makeElement('code', {}, value), ' ', title)];
      }
      case 'holder': {
        const agent = agentOf(value);
        return [agent ? badge(value, agent.agentId, agent.userName) : null, makeElement('span', {}, value)];
      }
      case 'folder': return [pathText(value.slice(0, -1))];
      case 'file': return [pathText(value)];
    }
  }

  /** @param {string} key */
  function agentOf(key) {
    return model.state.agents.find(({ holder }) => holder === key);
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
    if (type === 'folder') {
      setFilter(value);
      zoomTo(value.slice(0, -1));
      return;
    }
    const path = type === 'file' ? value : agentOf(value)?.locks[0]?.path;
    setInput('');
    close();
    if (type === 'task') {
      model.go({ team: model.state.board.name, task: value, filter: '' });
      return;
    }
    model.go(path ? { file: path, filter: '' } : { filter: '' });
    const row = type === 'holder' ? document.querySelector(`[data-holder="${CSS.escape(value)}"]`) : null;
    row?.scrollIntoView({ block: 'nearest' });
    if (path) zoomTo(path);
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

  function updateLabel() {
    const kinds = isBoard(model.state.place) ? 'tasks, files, holders' : 'files, folders, holders';
    setAttribute(input, 'placeholder', `Search ${kinds}`);
    setAttribute(input, 'aria-label', `Search ${kinds.replace(/, (\w+)$/, ' and $1')}`);
  }

  model.subscribe((changed) => {
    if (!changed.has('place')) return;
    updateLabel();
    const { filter } = model.state.place;
    if (document.activeElement !== input && input.value !== filter) setInput(filter);
  });
  setInput(model.state.place.filter);
  updateLabel();
  return {
    focus() {
      input.focus();
      input.select();
    },
  };
}
