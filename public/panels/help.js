// The help: what the shapes mean, the keys, how agents join.

import { icon, make } from '../app/dom.js';
import { policySentences } from '../app/truth.js';
import { KEY_HELP } from './key_commands.js';
import { COMMAND_MEANINGS } from './words.js';
import { commandChip } from './parts.js';

const SHAPES = [
  { mode: 'WRITING', icon: 'pencil', says: 'Solid: one agent changes the file. Nobody else can claim it.' },
  { mode: 'READING', icon: 'eye', says: 'Outlined: agents rely on the file as it is. Others can read it; nobody can write it.' },
  { mode: 'NEIGHBOR', icon: 'link', says: 'Hatched: a neighbor (it imports a file that is being written, or is imported by it) that others cannot write now.' },
  { mode: 'INFORMED', icon: 'link', says: 'Dotted: a neighbor that others can write; they are told who writes beside it.' },
  { mode: 'OWNED', icon: 'check', says: 'In brackets: the selected intent owns the file. Others cannot write it until the intent ends.' },
];

/**
 * @param {HTMLElement} element The dialog.
 * @param {import('../app/types.js').Model} model
 */
export function mountHelp(element, model) {
  const dialog = /** @type {HTMLDialogElement} */ (element);
  dialog.classList.add('help');
  dialog.setAttribute('aria-labelledby', 'help-title');
  const rules = make('ul', { class: 'help-rules' });
  const close = make('button', { type: 'button', class: 'icon-button', 'aria-label': 'Close the help', onclick: () => dialog.close() }, icon('close'));
  dialog.append(
    make('div', { class: 'panel-head' }, make('h2', { class: 'panel-title', id: 'help-title' }, 'Help'), close),
    make('div', { class: 'help-body' },
      section('Shapes and colors', make('p', {}, 'Orange, teal and purple are locks; badges have the color of their agent. The tint of a cell is its language.'), make('dl', { class: 'help-list' }, ...SHAPES.flatMap(({ mode, icon: name, says }) => [
        make('dt', {}, make('span', { class: 'help-shape', 'data-mode': mode }, icon(name), mode)), make('dd', {}, says)]))),
      section('The rules of this branch', rules),
      section('Keys', make('dl', { class: 'help-list' }, ...KEY_HELP.flatMap(({ keys, does }) => [
        make('dt', {}, ...keys.map((key) => make('kbd', {}, key))), make('dd', {}, does)]))),
      section('Commands that agents get', make('dl', { class: 'help-list' }, ...[...COMMAND_MEANINGS].flatMap(([command, says]) => [
        make('dt', {}, commandChip(command)), make('dd', {}, says)]))),
      section('How agents join',
        make('p', {}, 'In your repository, once:'),
        make('pre', {}, make('code', {}, 'coord init')),
        make('p', {}, 'An agent with MCP can join this server. For Claude Code:'),
        make('pre', {}, make('code', {}, `claude mcp add --transport http coord ${new URL('api/mcp', document.baseURI).href}`)),
        make('p', {}, 'A person can claim files too:'),
        make('pre', {}, make('code', {}, "coord claim 'src/auth/**' -m 'Moving the login'")))));
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  return {
    open() {
      rules.replaceChildren(...policySentences(model.state.policy).map((says) => make('li', {}, says)));
      if (!dialog.open) dialog.showModal();
    },
    close: () => dialog.close(),
  };
}

/** @param {string} title @param {...HTMLElement} content */
function section(title, ...content) {
  return make('section', {}, make('h3', {}, title), ...content);
}
