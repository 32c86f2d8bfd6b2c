// The panel of what needs attention, above everything else. It is hidden if nothing does.

import { attentionOf } from '../app/attention.js';
import { icon, keyedChildren, makeButton, makeElement, setAttribute, setText } from '../app/dom.js';
import { formatCount } from '../app/formatting.js';
import { holderActions } from './action_buttons.js';
import { panelHead } from './elements.js';
import { onTick } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/attention.js').Concern} Concern */

/** Lines that are visible at first. */
const FIRST = 3;
/** @type {Record<Concern['kind'], string>} */
const ICONS = {
  blocked: 'lock', expiring: 'clock', silent: 'clock', task: 'board', collision: 'branch', held: 'pencil',
};

/** @param {HTMLElement} element @param {Model} model */
export function mountAttention(element, model) {
  let isOpen = false;
  const count = makeElement('span', { class: 'count' });
  const list = makeElement('ul');
  const more = makeButton({ class: 'quiet concern-more', onclick: toggle });
  element.classList.add('panel', 'attention');
  element.append(panelHead([icon('warning'), 'Needs attention ', count], more), list);
  const keyOf = (/** @type {Concern} */ { key }) => key;
  const renderRows = keyedChildren(list, keyOf, (concern) => concernRow(model, concern));

  function toggle() {
    isOpen = !isOpen;
    render();
  }

  function render() {
    const concerns = model.state.place.repoUrl ? attentionOf(model.state, model.now()) : [];
    element.hidden = concerns.length === 0;
    setText(count, String(concerns.length));
    renderRows(isOpen ? concerns : concerns.slice(0, FIRST));
    more.hidden = concerns.length <= FIRST;
    more.setAttribute('aria-expanded', String(isOpen));
    setText(more, isOpen ? 'Show fewer' : `Show all ${formatCount(concerns.length, 'line')}`);
  }

  onTick(render);
  model.subscribe(render);
  render();
}

/** @param {Model} model @param {Concern} first */
function concernRow(model, first) {
  let concern = first;
  const { kind } = first;
  const text = makeElement('span', { class: 'concern-text' });
  const advice = makeElement('span', { class: 'soft' });
  const actions = holderActions(model);
  const onclick = () => model.go(concern.place);
  const button = makeButton({ class: 'concern-button', onclick }, icon(ICONS[kind]), text);
  const next = makeElement('div', { class: 'concern-next' }, advice, actions.node);
  return {
    node: makeElement('li', { class: 'concern', 'data-kind': kind }, button, next),
    /** @param {Concern} current */
    update(current) {
      concern = current;
      setText(text, concern.text);
      setText(advice, concern.advice);
      actions.update(concern.holder, concern.paths);
      setAttribute(button, 'title', concern.paths.join('\n') || null);
    },
  };
}
