// The help: what the shapes mean, the keys, how agents join.

import { icon, make } from '../app/dom.js';
import { policySentences } from '../app/truth.js';
import { KEY_HELP } from './key_commands.js';
import { COMMAND_MEANINGS } from './words.js';
import { commandChip } from './parts.js';

const SHAPES = [
  { mode: 'WRITING', icon: 'pencil', says: 'Solid. One holder changes the file; nobody else can claim it, nor write its neighbors.' },
  { mode: 'READING', icon: 'eye', says: 'Outlined. Holders rely on the file as it is; others can read it too, nobody can write it.' },
  { mode: 'NEIGHBOR', icon: 'link', says: 'Dashed. The file imports one that is being written, or is imported by it: a claim for writing is refused.' },
  { mode: 'OWNED', icon: 'check', says: 'In brackets. The selected intent owns the file: others cannot write it until the intent ends.' },
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
      section('What the shapes mean', make('dl', { class: 'help-list' }, ...SHAPES.flatMap(({ mode, icon: name, says }) => [
        make('dt', {}, make('span', { class: 'help-shape', 'data-mode': mode }, icon(name), mode)), make('dd', {}, says)]))),
      section('The rules of this branch', rules),
      section('Keys', make('dl', { class: 'help-list' }, ...KEY_HELP.flatMap(({ keys, does }) => [
        make('dt', {}, ...keys.map((key) => make('kbd', {}, key))), make('dd', {}, does)]))),
      section('What agents are told', make('dl', { class: 'help-list' }, ...[...COMMAND_MEANINGS].flatMap(([command, says]) => [
        make('dt', {}, commandChip(command)), make('dd', {}, says)]))),
      section('How agents join',
        make('p', {}, 'On a machine with Coord, once for each repository:'),
        make('pre', {}, make('code', {}, 'coord init')),
        make('p', {}, 'An agent that speaks MCP joins this server, here with Claude Code:'),
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
