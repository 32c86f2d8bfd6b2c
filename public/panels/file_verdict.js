// How the server would decide a claim of the selected file now.

import { makeButton, makeElement, setText } from '../app/dom.js';
import { claimSignature } from './claim_signature.js';
import { COMMAND_MEANINGS, commandChip } from './elements.js';

/** Delay of a request after a change of locks, which come in bursts. */
const DEBOUNCE_MS = 600;

/** @param {import('../app/types.js').Model} model */
export function fileVerdict(model) {
  let path = '';
  let signature = '';
  let lastRequest = 0;
  let timer = 0;
  const chip = makeElement('span');
  const meaning = makeElement('span', { class: 'soft' });
  const reason = makeElement('p', { class: 'verdict-reason' });
  const warnings = makeElement('ul', { class: 'verdict-warnings' });
  const again = makeButton({ class: 'quiet', hidden: true, onclick: read }, 'Ask again');
  const node = makeElement('section', { class: 'file-section', 'aria-live': 'polite' },
    makeElement('h3', {}, 'A claim for writing now'),
    makeElement('p', { class: 'verdict-head' }, chip, meaning), reason, warnings, again);

  async function read() {
    window.clearTimeout(timer);
    lastRequest += 1;
    const request = lastRequest;
    signature = claimSignature(model.state, path);
    node.setAttribute('aria-busy', 'true');
    try {
      const { command, reason: sentence, warnings: sentences } = await model.check(path);
      if (request !== lastRequest) return;
      chip.replaceChildren(commandChip(command));
      setText(meaning, COMMAND_MEANINGS.get(command) ?? '');
      setText(reason, sentence);
      warnings.replaceChildren(...sentences.map((warning) => makeElement('li', {}, warning)));
      again.hidden = true;
    } catch (error) {
      if (request !== lastRequest) return;
      showWithoutVerdict('The server does not answer.', error instanceof Error ? error.message : String(error));
      again.hidden = false;
    }
    node.removeAttribute('aria-busy');
  }

  /** @param {string} state @param {string} sentence */
  function showWithoutVerdict(state, sentence) {
    chip.replaceChildren();
    setText(meaning, state);
    setText(reason, sentence);
    warnings.replaceChildren();
  }

  return {
    node,
    /** @param {string} next */
    show(next) {
      path = next;
      showWithoutVerdict('Asking the server', '');
      again.hidden = true;
      read();
    },
    /** Repeats the request if the locks that decide have changed. */
    refresh() {
      window.clearTimeout(timer);
      if (claimSignature(model.state, path) !== signature) timer = window.setTimeout(read, DEBOUNCE_MS);
    },
  };
}
