// The dialog that asks the user to confirm an act. It shows the command of the terminal that does the same.

import { commandOf, ownMember } from '../app/acts.js';
import { make, setText } from '../app/dom.js';
import { nameOf } from '../app/names.js';
import { counted, listed, nameOfPath } from '../app/words.js';
import { copyButton } from './copy_button.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/acts.js').Act} Act */

/**
 * @param {HTMLDialogElement} dialog
 * @param {Model} model
 */
export function mountActDialog(dialog, model) {
  /** @type {Act | null} */
  let act = null;
  const title = make('h2', { id: 'act-title' });
  const about = make('p', {});
  const label = make('span', {});
  const textArea = make('textarea', { rows: '2', maxlength: '500', oninput: showCommand });
  const input = /** @type {HTMLTextAreaElement} */ (textArea);
  const select = /** @type {HTMLSelectElement} */ (make('select', { onchange: showCommand }));
  const field = make('label', {}, label, input);
  const command = make('code', {});
  const copy = copyButton('Copy the command', () => command.textContent ?? '');
  const actor = make('p', { class: 'sign-in-note' });
  const result = make('p', { class: 'sign-in-said', role: 'alert' });
  const send = make('button', { class: 'primary' });
  const cancel = make('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel');
  const form = make('form', {}, title, about, field, result, actor,
    make('div', { class: 'act-command' }, command, copy.button), copy.status,
    make('div', { class: 'buttons' }, cancel, send));
  dialog.append(form);
  form.addEventListener('submit', submit);
  model.onConfirmAct(open);

  const enteredText = () => (act?.kind === 'assign' ? select.value : input.value.trim());

  /** @param {Act} next */
  function open(next) {
    act = next;
    const { state } = model;
    const { caller } = state;
    const words = wordsOf(state, next);
    setText(title, words.title);
    setText(about, words.about);
    setText(label, words.field);
    setText(send, words.button);
    setText(result, '');
    result.classList.remove('bad');
    field.hidden = words.field === '';
    field.replaceChildren(label, next.kind === 'assign' ? select : input);
    input.required = next.kind === 'release' || next.kind === 'message';
    input.value = '';
    if (next.kind === 'assign') {
      const members = next.team.members.filter(({ hasEnded }) => !hasEnded);
      select.replaceChildren(...members.map(({ handle }) => make('option', { value: handle }, handle)));
    }
    const joins = next.kind === 'message' && ownMember(next.team, caller?.login ?? null) === null
      ? `, who joins team ${next.team.name} for it`
      : '';
    setText(actor, `Done by ${caller?.name}${joins}.`);
    showCommand();
    if (!dialog.open) dialog.showModal();
    (next.kind === 'reopen' ? send : next.kind === 'assign' ? select : input).focus();
  }

  function showCommand() {
    if (act) setText(command, commandOf(act, enteredText(), model.state.place.branch ?? 'main'));
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (!act || send.hasAttribute('aria-busy') || (input.required && enteredText() === '')) return;
    send.setAttribute('aria-busy', 'true');
    try {
      setText(result, await model.act(act, enteredText()));
      dialog.close();
    } catch (error) {
      result.classList.add('bad');
      setText(result, `Nothing was changed: ${error instanceof Error ? error.message : error}`);
    }
    send.removeAttribute('aria-busy');
  }
}

/** @param {import('../app/types.js').State} state @param {Act} act */
function wordsOf(state, act) {
  switch (act.kind) {
    case 'release': {
      const { paths } = act;
      const name = nameOf(state, act.holder);
      const files = paths.length === 1 ? nameOfPath(paths[0]) : counted(paths.length, 'file');
      const loss = `${name} loses the lock on ${listed(paths, 3)}.`;
      const nextCall = `Its next call about ${paths.length === 1 ? 'it' : 'them'} is stopped.`;
      return {
        title: `Release ${files} of ${name} by force?`,
        about: `${loss} ${nextCall} Changes that are not pushed may conflict.`,
        field: `Reason, which ${name} gets`,
        button: 'Release by force',
      };
    }
    case 'message': return {
      title: `Message ${act.handle}`,
      about: `${act.handle} gets it with its next read of messages.`,
      field: 'Message',
      button: 'Send',
    };
    case 'assign': return {
      title: `Assign ${act.task}`,
      about: 'The task is reserved for the member for ten minutes. The member gets a message.',
      field: 'Member',
      button: 'Assign',
    };
    case 'reopen': return {
      title: `Reopen ${act.task}?`,
      about: 'It is held back because its claims expired three times. Anyone may claim it again.',
      field: '',
      button: 'Reopen',
    };
  }
}
