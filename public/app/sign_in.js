// The dialog that asks for a token, and the button that signs in and out.

import { make, setText } from './dom.js';
import { servedRepositories } from './served.js';
import { sentence } from './truth.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').Problem} Problem */

/**
 * @param {{ dialog: HTMLDialogElement, button: HTMLElement }} places
 * @param {Model} model
 * @returns {{ update: () => void, open: () => void }}
 */
export function mountSignIn({ dialog, button }, model) {
  const said = make('p', { class: 'sign-in-said', role: 'alert' });
  const input = /** @type {HTMLInputElement} */ (make('input', { type: 'password', name: 'token', required: true, autocomplete: 'off', spellcheck: 'false' }));
  const form = make('form', {},
    make('h2', { id: 'sign-in-title' }, 'Sign in'),
    said,
    make('label', {}, 'Token', input),
    make('p', { class: 'sign-in-note' }, `The token stays in this tab until you sign out or close it. It is sent to ${location.host} only.`),
    make('div', { class: 'buttons' },
      make('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
      make('button', { class: 'primary' }, 'Sign in')));
  dialog.append(form);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const token = input.value.trim();
    if (!token) return;
    dialog.close();
    model.signIn(token);
  });
  // The token is not left in the page.
  dialog.addEventListener('close', () => (input.value = ''));
  button.addEventListener('click', () => (model.state.isSignedIn ? model.signOut() : open()));

  function open() {
    const { problem, isSignedIn } = model.state;
    const isRefused = problem?.kind === 'sign_in' && isSignedIn;
    const reason = problem?.kind === 'sign_in' || problem?.kind === 'forbidden' ? sentence(problem.message) : '';
    setText(said, isRefused ? `The token was not accepted: ${reason}` : reason);
    said.classList.toggle('bad', isRefused);
    if (!dialog.open) dialog.showModal();
    input.focus();
  }

  /** @type {Problem | null} */
  let seen = null;
  /** A deployment of which nobody may know what it serves wants tokens. */
  let isDeployed = false;
  servedRepositories().then((served) => {
    isDeployed = served === null;
    update();
  });

  function update() {
    const { problem, isSignedIn, needsToken, place } = model.state;
    button.hidden = !isSignedIn && !needsToken && !isDeployed;
    setText(button, isSignedIn ? 'Sign out' : 'Sign in');
    if (problem === seen) return;
    seen = problem;
    if (problem?.kind === 'sign_in' && place.repoUrl) open();
  }
  return { update, open };
}
