// The help: the shapes, the rules, the keys, the commands, and how agents join.

import { icon, iconButton, makeElement } from '../app/dom.js';
import { policySentences } from '../app/status_sentences.js';
import { COMMAND_MEANINGS, commandChip, panelHead } from './elements.js';
import { KEY_HELP } from './key_commands.js';

const COLORS =
  'Orange, teal and purple are locks; badges have the color of their agent. The tint of a cell is its language.';
const SHAPES = [
  { mode: 'WRITING', icon: 'pencil', meaning: 'Solid: one agent changes the file. Nobody else can claim it.' },
  {
    mode: 'READING',
    icon: 'eye',
    meaning: 'Outlined: agents rely on the file as it is. Others can read it; nobody can write it.',
  },
  {
    mode: 'NEIGHBOR',
    icon: 'link',
    meaning: 'Hatched: a neighbor (it imports a file that is being written, or is imported by it) that others cannot '
      + 'write now.',
  },
  {
    mode: 'INFORMED',
    icon: 'link',
    meaning: 'Dotted: a neighbor that others can write; they get a warning about the lock beside it.',
  },
  {
    mode: 'OWNED',
    icon: 'check',
    meaning: 'In brackets: the selected intent owns the file. Others cannot write it until the intent ends.',
  },
];

/** @param {HTMLDialogElement} dialog @param {import('../app/types.js').Model} model */
export function mountHelp(dialog, model) {
  dialog.classList.add('help');
  const rules = makeElement('ul', { class: 'help-rules' });
  const close = iconButton('close', { 'aria-label': 'Close the help', onclick: () => dialog.close() });
  const shapes = SHAPES.map(({ mode, icon: name, meaning }) =>
    ({ terms: [makeElement('span', { class: 'help-shape', 'data-mode': mode }, icon(name), mode)], meaning }));
  const keys = KEY_HELP.map(({ keys: names, effect }) =>
    ({ terms: names.map((name) => makeElement('kbd', {}, name)), meaning: effect }));
  const commands = [...COMMAND_MEANINGS].map(([command, meaning]) => ({ terms: [commandChip(command)], meaning }));
  dialog.append(
    panelHead(['Help'], close),
    makeElement('div', { class: 'help-body' },
      section('Shapes and colors', makeElement('p', {}, COLORS), definitionList(shapes)),
      section('The rules of this branch', rules),
      section('Keys', definitionList(keys)),
      section('Commands that agents get', definitionList(commands)),
      section('How agents join',
        makeElement('p', {}, 'In your repository, once:'),
        codeBlock('coord init'),
        makeElement('p', {}, 'An agent with MCP can join this server. For Claude Code:'),
        codeBlock(`claude mcp add --transport http coord ${new URL('api/mcp', document.baseURI).href}`),
        makeElement('p', {}, 'A person can claim files too:'),
        codeBlock("coord claim 'src/auth/**' -m 'Moving the login'"))));
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  return {
    open() {
      rules.replaceChildren(...policySentences(model.state.policy).map((sentence) => makeElement('li', {}, sentence)));
      if (!dialog.open) dialog.showModal();
    },
  };
}

/** @param {string} title @param {...HTMLElement} content */
function section(title, ...content) {
  return makeElement('section', {}, makeElement('h3', {}, title), ...content);
}

/** @param {{ terms: HTMLElement[], meaning: string }[]} entries */
function definitionList(entries) {
  return makeElement('dl', { class: 'help-list' },
    ...entries.flatMap(({ terms, meaning }) => [makeElement('dt', {}, ...terms), makeElement('dd', {}, meaning)]));
}

/** @param {string} text */
function codeBlock(text) {
  return makeElement('pre', {}, makeElement('code', {}, text));
}
