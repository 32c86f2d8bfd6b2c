// The dialog that asks before something is done: what, why, and who does it. It has the command that does the same.

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
  const name = make('span', {});
  const input = /** @type {HTMLTextAreaElement} */ (make('textarea', { rows: '2', maxlength: '500', oninput: show }));
  const select = /** @type {HTMLSelectElement} */ (make('select', { onchange: show }));
  const field = make('label', {}, name, input);
  const command = make('code', {});
  const copy = copyButton('Copy the command', () => command.textContent ?? '');
  const who = make('p', { class: 'sign-in-note' });
  const said = make('p', { class: 'sign-in-said', role: 'alert' });
  const send = make('button', { class: 'primary' });
  const cancel = make('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel');
  const form = make('form', {}, title, about, field, said, who,
    make('div', { class: 'act-command' }, command, copy.button), copy.said, make('div', { class: 'buttons' }, cancel, send));
  dialog.append(form);
  form.addEventListener('submit', submit);
  model.onAct((next) => {
    act = next;
    open(next);
  });

  const textOf = () => (act?.kind === 'assign' ? select.value : input.value.trim());

  /** @param {Act} next */
  function open(next) {
    const { state } = model;
    const words = wordsOf(state, next);
    setText(title, words.title);
    setText(about, words.about);
    setText(name, words.field);
    setText(send, words.button);
    setText(said, '');
    said.classList.remove('bad');
    field.hidden = words.field === '';
    field.replaceChildren(name, next.kind === 'assign' ? select : input);
    input.required = next.kind === 'release' || next.kind === 'message';
    input.value = '';
    if (next.kind === 'assign') select.replaceChildren(...next.team.members.filter(({ hasEnded }) => !hasEnded).map(({ handle }) => make('option', { value: handle }, handle)));
    const joins = next.kind === 'message' && ownMember(next.team, state.caller?.login ?? null) === null ? `, who joins team ${next.team.name} for it` : '';
    setText(who, `Done by ${state.caller?.name}${joins}.`);
    show();
    if (!dialog.open) dialog.showModal();
    (next.kind === 'reopen' ? send : next.kind === 'assign' ? select : input).focus();
  }

  function show() {
    if (act) setText(command, commandOf(act, textOf(), model.state.place.branch ?? 'main'));
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (!act || send.hasAttribute('aria-busy') || (input.required && textOf() === '')) return;
    send.setAttribute('aria-busy', 'true');
    try {
      setText(said, await model.act(act, textOf()));
      dialog.close();
    } catch (error) {
      said.classList.add('bad');
      setText(said, `Nothing was changed: ${error instanceof Error ? error.message : error}`);
    }
    send.removeAttribute('aria-busy');
  }
}

/** @param {import('../app/types.js').State} state @param {Act} act */
function wordsOf(state, act) {
  switch (act.kind) {
    case 'release': {
      const name = nameOf(state, act.holder);
      const files = act.paths.length === 1 ? nameOfPath(act.paths[0]) : counted(act.paths.length, 'file');
      return {
        title: `Release ${files} of ${name} by force?`, field: `Reason, which ${name} gets`, button: 'Release by force',
        about: `${name} loses the lock on ${listed(act.paths, 3)}. Its next call about ${act.paths.length === 1 ? 'it' : 'them'} is stopped. Changes that are not pushed may conflict.`,
      };
    }
    case 'message': return { title: `Message ${act.handle}`, about: `${act.handle} gets it with its next read of messages.`, field: 'Message', button: 'Send' };
    case 'assign': return { title: `Assign ${act.task}`, about: 'The task is kept for the member for ten minutes, who gets a message.', field: 'Member', button: 'Assign' };
    case 'reopen': return { title: `Reopen ${act.task}?`, about: 'It is held back because its claims expired three times. Anyone may claim it again.', field: '', button: 'Reopen' };
  }
}
