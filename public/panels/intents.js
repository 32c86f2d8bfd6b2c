// The panel of intents: why files are changed, how far the work has come, and who was not let in.

import { keyedChildren, make, setText } from '../app/dom.js';
import { sortedIntents } from '../app/intents.js';
import { counted } from '../app/words.js';
import { fold } from './fold.js';
import { intentRefusals } from './intent_refusals.js';
import { intentRow } from './intent_row.js';
import { needsSignIn } from './needs_sign_in.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').Intent} Intent */

/**
 * @param {HTMLElement} element
 * @param {Model} model
 * @param {{ signIn: () => void }} actions
 */
export function mountIntents(element, model, { signIn }) {
  const count = make('span', { class: 'count' });
  const message = make('p', { class: 'panel-message', role: 'status' });
  const locked = needsSignIn('Intents need signing in: they are shown to those who may read the repository.', signIn);
  const refusals = intentRefusals(model);
  const none = make('p', { class: 'empty' }, 'No intent is active.');
  const active = make('ul', { class: 'intent-list' });
  const ended = make('ul', { class: 'intent-list' });
  const endedFold = fold('intents-ended', ended, () => renderEnded(sortedIntents(model.state.intents.list).ended));
  element.classList.add('panel', 'intents');
  element.append(
    make('div', { class: 'panel-head' }, make('h2', { class: 'panel-title' }, 'Intents ', count)),
    message, locked.node, refusals.node, none, active, endedFold.node);

  /** @type {Map<string, ReturnType<typeof intentRow>>} */
  const rows = new Map();
  const create = (/** @type {Intent} */ intent) => {
    const row = intentRow(model, intent);
    rows.set(intent.id, row);
    return row;
  };
  const renderActive = keyedChildren(active, (/** @type {Intent} */ { id }) => id, create);
  const renderEnded = keyedChildren(ended, (/** @type {Intent} */ { id }) => id, create);
  /** @type {string | null} */
  let selected = null;

  function render() {
    const { intents, refusals: open, place } = model.state;
    const isShown = intents.phase === 'shown';
    const sorted = sortedIntents(intents.list);
    const known = new Set(intents.list.map(({ id }) => id));
    for (const id of rows.keys()) if (!known.has(id)) rows.delete(id);
    locked.update(intents.phase === 'sign_in' ? intents.message : null);
    setText(message, isShown && intents.message ? `The intents are out of date: ${intents.message}` : '');
    refusals.update(isShown ? open : []);
    renderActive(sorted.active);
    endedFold.update(sorted.ended.length > 0 ? `${counted(sorted.ended.length, 'intent')} ended` : '');
    none.hidden = !isShown || sorted.active.length > 0;
    setText(count, sorted.active.length > 0 ? String(sorted.active.length) : '');
    if (place.intent !== selected && (place.intent === null || known.has(place.intent))) {
      selected = place.intent;
      if (sorted.ended.some(({ id }) => id === selected)) {
        endedFold.node.open = true;
        renderEnded(sorted.ended);
      }
      rows.get(selected ?? '')?.node.scrollIntoView({ block: 'nearest' });
    }
  }

  const endTicks = everySecond(() => {
    const now = model.now();
    for (const row of rows.values()) row.tick(now);
    refusals.tick(now);
  });
  const unsubscribe = model.subscribe((changed) => {
    if (changed.has('intents') || changed.has('locks') || changed.has('place')) render();
  });
  render();
  return {
    destroy() {
      endTicks();
      unsubscribe();
    },
  };
}
