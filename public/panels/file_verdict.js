// What a claim of the selected file would meet now, as the server answers it.

import { claimSignature } from './claim_signature.js';
import { make, setText } from '../app/dom.js';
import { commandChip } from './parts.js';
import { COMMAND_MEANINGS } from './words.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').Verdict} Verdict */

/** Locks change in bursts: one answer for each burst. */
const CALM_MS = 600;

/** @param {Model} model */
export function fileVerdict(model) {
  let path = '';
  let signature = '';
  let asked = 0;
  let timer = 0;
  const chip = make('span');
  const meaning = make('span', { class: 'soft' });
  const reason = make('p', { class: 'verdict-reason' });
  const warnings = make('ul', { class: 'verdict-warnings' });
  const again = make('button', { type: 'button', class: 'quiet', hidden: true, onclick: ask }, 'Ask again');
  const node = make('section', { class: 'file-section verdict', 'aria-live': 'polite' },
    make('h3', {}, 'A claim for writing now'), make('p', { class: 'verdict-head' }, chip, meaning), reason, warnings, again);

  async function ask() {
    window.clearTimeout(timer);
    asked += 1;
    const own = asked;
    signature = claimSignature(model.state, path);
    node.setAttribute('aria-busy', 'true');
    try {
      const verdict = await model.check(path);
      if (own === asked) say(verdict);
    } catch (error) {
      if (own === asked) sayFailure(error instanceof Error ? error.message : String(error));
    }
    if (own === asked) node.removeAttribute('aria-busy');
  }

  /** @param {Verdict} verdict */
  function say(verdict) {
    chip.replaceChildren(commandChip(verdict.command));
    setText(meaning, COMMAND_MEANINGS.get(verdict.command) ?? '');
    setText(reason, verdict.reason);
    warnings.replaceChildren(...verdict.warnings.map((warning) => make('li', {}, warning)));
    again.hidden = true;
  }

  /** @param {string} message */
  function sayFailure(message) {
    chip.replaceChildren();
    setText(meaning, 'The server does not answer.');
    setText(reason, message);
    warnings.replaceChildren();
    again.hidden = false;
  }

  return {
    node,
    /** @param {string} next */
    show(next) {
      path = next;
      chip.replaceChildren();
      setText(meaning, 'Asking the server');
      setText(reason, '');
      warnings.replaceChildren();
      again.hidden = true;
      ask();
    },
    /** Asks again if the locks that decide have changed. */
    refresh() {
      window.clearTimeout(timer);
      if (claimSignature(model.state, path) !== signature) timer = window.setTimeout(ask, CALM_MS);
    },
    destroy() {
      window.clearTimeout(timer);
      asked += 1;
    },
  };
}
