// The panel of intents: active ones, ended ones, and open refusals.

import { keyedChildren, makeElement, setText } from '../app/dom.js';
import { formatCount } from '../app/formatting.js';
import { sortIntents } from '../app/intents.js';
import { panelHead } from './elements.js';
import { fold } from './fold.js';
import { intentRefusals } from './intent_refusals.js';
import { intentRow } from './intent_row.js';
import { signInPrompt } from './sign_in_prompt.js';
import { onTick } from './ticker.js';

/** @import { Intent, Model } from '../app/types.js' */

const SIGN_IN_TEXT = 'Intents need signing in: they are shown to those who may read the repository.';

/** @param {HTMLElement} element @param {Model} model @param {{ signIn: () => void }} actions */
export function mountIntents(element, model, { signIn }) {
  const count = makeElement('span', { class: 'count' });
  const message = makeElement('p', { class: 'panel-message', role: 'status' });
  const signInNote = signInPrompt(SIGN_IN_TEXT, signIn);
  const refusals = intentRefusals(model);
  const noneActive = makeElement('p', { class: 'empty' }, 'No intent is active.');
  const activeList = makeElement('ul', { class: 'intent-list' });
  const endedList = makeElement('ul', { class: 'intent-list' });
  const endedFold = fold('intents-ended', endedList, () => {
    endedRows = renderEnded(sortIntents(model.state.intents.list).ended);
  });
  element.classList.add('panel', 'intents');
  element.append(panelHead(['Intents ', count]),
    message, signInNote.node, refusals.node, noneActive, activeList, endedFold.node);

  const create = (/** @type {Intent} */ intent) => intentRow(model, intent);
  const keyOf = (/** @type {Intent} */ { id }) => id;
  const renderActive = keyedChildren(activeList, keyOf, create);
  const renderEnded = keyedChildren(endedList, keyOf, create);
  let activeRows = renderActive([]);
  let endedRows = renderEnded([]);
  /** @type {string | null} */
  let selected = null;

  function render() {
    const { intents, refusals: openRefusals, place } = model.state;
    const isShown = intents.phase === 'shown';
    const { active, ended } = sortIntents(intents.list);
    signInNote.update(intents.phase === 'sign_in' ? intents.message : null);
    setText(message, isShown && intents.message ? `The intents are out of date: ${intents.message}` : '');
    refusals.update(isShown ? openRefusals : []);
    activeRows = renderActive(active);
    endedFold.update(ended.length > 0 ? `${formatCount(ended.length, 'intent')} ended` : '');
    noneActive.hidden = !isShown || active.length > 0;
    setText(count, active.length > 0 ? String(active.length) : '');
    const isKnown = place.intent === null || intents.list.some(({ id }) => id === place.intent);
    if (place.intent === selected || !isKnown) return;
    selected = place.intent;
    if (ended.some(({ id }) => id === selected)) {
      endedFold.node.open = true;
      endedRows = renderEnded(ended);
    }
    const row = activeRows.get(selected ?? '') ?? endedRows.get(selected ?? '');
    row?.node.scrollIntoView({ block: 'nearest' });
  }

  onTick(() => {
    const now = model.now();
    for (const row of [...activeRows.values(), ...endedRows.values()]) row.tick(now);
    refusals.tick(now);
  });
  model.subscribe((changed) => {
    if (changed.has('intents') || changed.has('locks') || changed.has('place')) render();
  });
  render();
}
