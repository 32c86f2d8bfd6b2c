// The panel of what needs attention, above everything else. It is hidden if nothing does.

import { attentionOf } from '../app/attention.js';
import { icon, keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { counted } from '../app/words.js';
import { holderActs } from './act_buttons.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/attention.js').Concern} Concern */

/** Lines that are visible at first. */
const FIRST = 3;
/** @type {Record<Concern['kind'], string>} */
const ICONS = {
  blocked: 'lock', expiring: 'clock', silent: 'clock', task: 'board', collision: 'branch', held: 'pencil',
};

/**
 * @param {HTMLElement} element
 * @param {Model} model
 */
export function mountAttention(element, model) {
  let isOpen = false;
  const count = make('span', { class: 'count' });
  const list = make('ul', { class: 'concern-list' });
  const more = make('button', { type: 'button', class: 'quiet concern-more', onclick: toggle });
  const title = make('h2', { class: 'panel-title' }, icon('warning'), 'Needs attention ', count);
  element.classList.add('panel', 'attention');
  element.append(make('div', { class: 'panel-head' }, title, more), list);
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
    setText(more, isOpen ? 'Show fewer' : `Show all ${counted(concerns.length, 'line')}`);
  }

  everySecond(render);
  model.subscribe(render);
  render();
}

/** @param {Model} model @param {Concern} first */
function concernRow(model, first) {
  let concern = first;
  const { kind } = first;
  const text = make('span', { class: 'concern-text' });
  const advice = make('span', { class: 'soft' });
  const acts = holderActs(model);
  const onclick = () => model.go(concern.place);
  const button = make('button', { type: 'button', class: 'concern-button', onclick }, icon(ICONS[kind]), text);
  const next = make('div', { class: 'concern-next' }, advice, acts.node);
  return {
    node: make('li', { class: 'concern', 'data-kind': kind }, button, next),
    /** @param {Concern} current */
    update(current) {
      concern = current;
      setText(text, concern.text);
      setText(advice, concern.advice);
      acts.update(concern.holder, concern.paths);
      setAttribute(button, 'title', concern.paths.join('\n') || null);
    },
  };
}
