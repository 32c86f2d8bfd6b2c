// Which panels stand beside the map. With intents there are two in each place, and one of them is shown where there is no room for both.

import { isBoard } from './address.js';
import { make, setText } from './dom.js';
import { isEnded } from './intents.js';

/** @typedef {import('./types.js').Model} Model */

/** @type {Record<string, 'upper' | 'lower'>} */
const PLACES = { agents: 'upper', intents: 'upper', activity: 'lower', ledger: 'lower' };

/** @param {string} id */
function slot(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * @param {Model} model
 * @param {(section: string) => void} onShow Called when a panel is wanted because of what was chosen in another.
 * @returns {{ update: () => void, show: (section: string) => void }}
 */
export function mountAsides(model, onShow) {
  const { body } = document;
  const groups = [slot('upper-tabs'), slot('lower-tabs')];
  const tabs = groups.flatMap((group) => /** @type {HTMLElement[]} */ ([...group.children]));
  const later = ['intents', 'ledger'].flatMap((name) => [slot(name), /** @type {HTMLElement} */ (slot('sections').querySelector(`[data-section=${name}]`))]);
  const counts = new Map(['agents', 'intents'].map((name) => [name, make('span', { class: 'count' })]));
  for (const tab of tabs) {
    const count = counts.get(tab.dataset.section ?? '');
    if (count) tab.append(' ', count);
    tab.addEventListener('click', () => show(tab.dataset.section ?? ''));
  }
  let { intent } = model.state.place;
  let { filter } = model.state.ledger;
  if (intent !== null) body.dataset.upper = 'intents';

  /** @param {string} section */
  function show(section) {
    if (section in PLACES) body.dataset[PLACES[section]] = section;
    update();
  }

  /** What is chosen elsewhere is brought to where it is seen. */
  function follow() {
    const { place, ledger } = model.state;
    const [isOther, isFiltered] = [place.intent !== intent && place.intent !== null, ledger.filter !== filter && Boolean(ledger.filter.intent || ledger.filter.file)];
    intent = place.intent;
    filter = ledger.filter;
    if (isOther) onShow('intents');
    if (isFiltered) onShow('ledger');
  }

  function update() {
    const { intents, agents, refusals } = model.state;
    const onBoard = isBoard(model.state.place);
    const isGoverned = !onBoard && (intents.phase === 'shown' || intents.phase === 'sign_in');
    body.toggleAttribute('data-governed', isGoverned);
    for (const node of [...groups, ...later]) node.hidden = !isGoverned;
    if (!isGoverned && ['intents', 'ledger'].includes(body.dataset.section ?? '')) body.dataset.section = 'map';
    for (const tab of tabs) tab.setAttribute('aria-pressed', String(Object.values(body.dataset).includes(tab.dataset.section)));
    const active = intents.list.filter((each) => !isEnded(each)).length;
    setText(/** @type {HTMLElement} */ (counts.get('agents')), agents.length > 0 ? String(agents.length) : '');
    const refused = refusals.length > 0 ? `, ${refusals.length} refused` : '';
    setText(/** @type {HTMLElement} */ (counts.get('intents')), active > 0 ? `${active}${refused}` : '');
    follow();
  }
  return { update, show };
}
