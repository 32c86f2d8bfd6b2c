// Selects the panels beside the map. A repository with intents has two panels for each of two places; without room for
// both, the page shows one of them.

import { isBoard } from './address.js';
import { elementById, makeElement, setText } from './dom.js';
import { isEnded } from './intents.js';

/** @type {Record<string, 'upper' | 'lower'>} */
const PLACES = { agents: 'upper', intents: 'upper', activity: 'lower', ledger: 'lower' };
/** The sections of a repository with intents. */
const INTENT_SECTIONS = ['intents', 'ledger'];

/**
 * @param {import('./types.js').Model} model
 * @param {(section: string) => void} onShow Called when a selection in one panel leads to another panel.
 * @returns {{ update: () => void, show: (section: string) => void }}
 */
export function mountSidePanels(model, onShow) {
  const { body } = document;
  const groups = [elementById('upper-tabs'), elementById('lower-tabs')];
  const tabs = groups.flatMap((group) => /** @type {HTMLElement[]} */ ([...group.children]));
  const sections = elementById('sections');
  const intentNodes = INTENT_SECTIONS.flatMap((name) => [
    elementById(name),
    /** @type {HTMLElement} */ (sections.querySelector(`[data-section=${name}]`)),
  ]);
  const agentCount = makeElement('span', { class: 'count' });
  const intentCount = makeElement('span', { class: 'count' });
  for (const tab of tabs) {
    if (tab.dataset.section === 'agents') tab.append(' ', agentCount);
    if (tab.dataset.section === 'intents') tab.append(' ', intentCount);
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

  /** Shows the panel of an intent or filter that was selected elsewhere. */
  function showSelection() {
    const { place, ledger } = model.state;
    const isIntentSelected = place.intent !== intent && place.intent !== null;
    const isFilterSet = ledger.filter !== filter && Boolean(ledger.filter.intent || ledger.filter.file);
    intent = place.intent;
    filter = ledger.filter;
    if (isIntentSelected) onShow('intents');
    if (isFilterSet) onShow('ledger');
  }

  function update() {
    const { intents, agents, refusals, place } = model.state;
    const hasIntents = !isBoard(place) && (intents.phase === 'shown' || intents.phase === 'sign_in');
    body.toggleAttribute('data-governed', hasIntents);
    for (const node of [...groups, ...intentNodes]) node.hidden = !hasIntents;
    if (!hasIntents && INTENT_SECTIONS.includes(body.dataset.section ?? '')) body.dataset.section = 'map';
    const selected = Object.values(body.dataset);
    for (const tab of tabs) tab.setAttribute('aria-pressed', String(selected.includes(tab.dataset.section)));
    const active = intents.list.filter((each) => !isEnded(each)).length;
    const refused = refusals.length > 0 ? `, ${refusals.length} refused` : '';
    setText(agentCount, agents.length > 0 ? String(agents.length) : '');
    setText(intentCount, active > 0 ? `${active}${refused}` : '');
    showSelection();
  }
  return { update, show };
}
