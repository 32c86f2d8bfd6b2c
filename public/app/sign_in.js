// The dialog that asks for a token, and the button that signs in and out.

import { makeButton, makeElement, setText } from './dom.js';
import { servedRepositories } from './local_server.js';
import { toSentence } from './status_sentences.js';

/** @import { Model, Problem } from './types.js' */

/**
 * @param {{ dialog: HTMLDialogElement, button: HTMLElement }} elements
 * @param {Model} model
 * @returns {{ update: () => void, open: () => void }}
 */
export function mountSignIn({ dialog, button }, model) {
  const message = makeElement('p', { class: 'form-message', role: 'alert' });
  const attributes = { type: 'password', name: 'token', required: true, autocomplete: 'off', spellcheck: 'false' };
  const input = makeElement('input', attributes);
  const note = `The token stays in this tab until you sign out or close it. It is sent to ${location.host} only.`;
  const form = makeElement('form', {},
    makeElement('h2', { id: 'sign-in-title' }, 'Sign in'),
    message,
    makeElement('label', {}, 'Token', input),
    makeElement('p', { class: 'form-note' }, note),
    makeElement('div', { class: 'buttons' },
      makeButton({ onclick: () => dialog.close() }, 'Cancel'),
      makeElement('button', { class: 'primary' }, 'Sign in')));
  dialog.append(form);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const token = input.value.trim();
    if (!token) return;
    dialog.close();
    model.signIn(token);
  });
  // Removes the token from the page.
  dialog.addEventListener('close', () => (input.value = ''));
  button.addEventListener('click', () => (model.state.isSignedIn ? model.signOut() : open()));

  function open() {
    const { problem, isSignedIn } = model.state;
    const isRefused = problem?.kind === 'sign_in' && isSignedIn;
    const reason = problem?.kind === 'sign_in' || problem?.kind === 'forbidden' ? toSentence(problem.message) : '';
    setText(message, isRefused ? `The token was not accepted: ${reason}` : reason);
    message.classList.toggle('bad', isRefused);
    if (!dialog.open) dialog.showModal();
    input.focus();
  }

  /** @type {Problem | null} */
  let lastProblem = null;
  /** Whether the server does not list its repositories: such a deployment requires tokens. */
  let isDeployed = false;
  servedRepositories().then((served) => {
    isDeployed = served === null;
    update();
  });

  function update() {
    const { problem, isSignedIn, needsToken, place } = model.state;
    button.hidden = !isSignedIn && !needsToken && !isDeployed;
    setText(button, isSignedIn ? 'Sign out' : 'Sign in');
    if (problem === lastProblem) return;
    lastProblem = problem;
    if (problem?.kind === 'sign_in' && place.repoUrl) open();
  }
  return { update, open };
}
