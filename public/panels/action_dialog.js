// The dialog that asks the user to confirm an action. It shows the command of the terminal that does the same.

import { makeButton, makeElement, setText } from '../app/dom.js';
import { formatCount, formatList, nameOfPath } from '../app/formatting.js';
import { nameOf } from '../app/holder.js';
import { memberOfLogin, shellCommandOf } from '../app/user_actions.js';
import { copyButton } from './copy_button.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/user_actions.js').UserAction} UserAction */

/** @param {HTMLDialogElement} dialog @param {Model} model */
export function mountActionDialog(dialog, model) {
  /** @type {UserAction | null} */
  let action = null;
  const title = makeElement('h2', { id: 'action-title' });
  const about = makeElement('p');
  const label = makeElement('span');
  const input = makeElement('textarea', { rows: '2', maxlength: '500', oninput: showCommand });
  const select = makeElement('select', { onchange: showCommand });
  const field = makeElement('label', {}, label, input);
  const command = makeElement('code');
  const copy = copyButton('Copy the command', () => command.textContent ?? '');
  const actor = makeElement('p', { class: 'form-note' });
  const result = makeElement('p', { class: 'form-message', role: 'alert' });
  const send = makeElement('button', { class: 'primary' });
  const cancel = makeButton({ onclick: () => dialog.close() }, 'Cancel');
  const form = makeElement('form', {}, title, about, field, result, actor,
    makeElement('div', { class: 'action-command' }, command, copy.button), copy.status,
    makeElement('div', { class: 'buttons' }, cancel, send));
  dialog.append(form);
  form.addEventListener('submit', submit);
  model.onConfirmAction(open);

  const enteredText = () => (action?.kind === 'assign' ? select.value : input.value.trim());

  /** @param {UserAction} next */
  function open(next) {
    action = next;
    const { state } = model;
    const { caller } = state;
    const texts = textsOf(state, next);
    setText(title, texts.title);
    setText(about, texts.about);
    setText(label, texts.field);
    setText(send, texts.button);
    setText(result, '');
    result.classList.remove('bad');
    field.hidden = texts.field === '';
    field.replaceChildren(label, next.kind === 'assign' ? select : input);
    input.required = next.kind === 'release' || next.kind === 'message';
    input.value = '';
    if (next.kind === 'assign') {
      const members = next.team.members.filter(({ hasEnded }) => !hasEnded);
      select.replaceChildren(...members.map(({ handle }) => makeElement('option', { value: handle }, handle)));
    }
    const joins = next.kind === 'message' && memberOfLogin(next.team, caller?.login ?? null) === null
      ? `, who joins team ${next.team.name} for it`
      : '';
    setText(actor, `Done by ${caller?.name}${joins}.`);
    showCommand();
    if (!dialog.open) dialog.showModal();
    (next.kind === 'reopen' ? send : next.kind === 'assign' ? select : input).focus();
  }

  function showCommand() {
    if (action) setText(command, shellCommandOf(action, enteredText(), model.state.place.branch ?? 'main'));
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (!action || send.hasAttribute('aria-busy') || (input.required && enteredText() === '')) return;
    send.setAttribute('aria-busy', 'true');
    try {
      setText(result, await model.performAction(action, enteredText()));
      dialog.close();
    } catch (error) {
      result.classList.add('bad');
      setText(result, `Nothing was changed: ${error instanceof Error ? error.message : error}`);
    }
    send.removeAttribute('aria-busy');
  }
}

/** @param {import('../app/types.js').State} state @param {UserAction} action */
function textsOf(state, action) {
  switch (action.kind) {
    case 'release': {
      const { paths } = action;
      const name = nameOf(state, action.holder);
      const files = paths.length === 1 ? nameOfPath(paths[0]) : formatCount(paths.length, 'file');
      const loss = `${name} loses the lock on ${formatList(paths, 3)}.`;
      const nextCall = `Its next call about ${paths.length === 1 ? 'it' : 'them'} is stopped.`;
      return {
        title: `Release ${files} of ${name} by force?`,
        about: `${loss} ${nextCall} Changes that are not pushed may conflict.`,
        field: `Reason, which ${name} gets`,
        button: 'Release by force',
      };
    }
    case 'message': return {
      title: `Message ${action.handle}`,
      about: `${action.handle} gets it with its next read of messages.`,
      field: 'Message',
      button: 'Send',
    };
    case 'assign': return {
      title: `Assign ${action.task}`,
      about: 'The task is reserved for the member for ten minutes. The member gets a message.',
      field: 'Member',
      button: 'Assign',
    };
    case 'reopen': return {
      title: `Reopen ${action.task}?`,
      about: 'It is held back because its claims expired three times. Anyone may claim it again.',
      field: '',
      button: 'Reopen',
    };
  }
}
