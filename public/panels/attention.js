// What needs attention, over everything else: nothing is shown where nothing does.

import { attentionOf } from '../app/attention.js';
import { icon, keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { counted } from '../app/words.js';
import { holderActs } from './act_buttons.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/attention.js').Concern} Concern */

/** Lines that are shown at once. */
const FIRST = 3;
/** @type {Record<Concern['kind'], string>} */
const ICONS = { blocked: 'lock', expiring: 'clock', silent: 'clock', task: 'board', collision: 'branch', held: 'pencil' };

/**
 * @param {HTMLElement} element
 * @param {Model} model
 */
export function mountAttention(element, model) {
  let isOpen = false;
  const count = make('span', { class: 'count' });
  const list = make('ul', { class: 'concern-list' });
  const more = make('button', { type: 'button', class: 'quiet concern-more', onclick: () => { isOpen = !isOpen; render(); } });
  element.classList.add('panel', 'attention');
  element.append(make('div', { class: 'panel-head' }, make('h2', { class: 'panel-title' }, icon('warning'), 'Needs attention ', count), more), list);
  const renderRows = keyedChildren(list, (/** @type {Concern} */ { key }) => key, (concern) => concernRow(model, concern));

  function render() {
    const concerns = model.state.place.repoUrl ? attentionOf(model.state, model.now()) : [];
    element.hidden = concerns.length === 0;
    setText(count, String(concerns.length));
    renderRows(isOpen ? concerns : concerns.slice(0, FIRST));
    more.hidden = concerns.length <= FIRST;
    more.setAttribute('aria-expanded', String(isOpen));
    setText(more, isOpen ? 'Show fewer' : `Show all ${counted(concerns.length, 'line')}`);
  }

  const endTicks = everySecond(render);
  const unsubscribe = model.subscribe(render);
  render();
  return {
    destroy() {
      endTicks();
      unsubscribe();
    },
  };
}

/** @param {Model} model @param {Concern} first */
function concernRow(model, first) {
  let concern = first;
  const text = make('span', { class: 'concern-text' });
  const advice = make('span', { class: 'soft' });
  const acts = holderActs(model);
  const button = make('button', { type: 'button', class: 'concern-button', onclick: () => model.go(concern.place) }, icon(ICONS[first.kind]), text);
  return {
    node: make('li', { class: 'concern', 'data-kind': first.kind }, button, make('div', { class: 'concern-next' }, advice, acts.node)),
    /** @param {Concern} next */
    update(next) {
      concern = next;
      setText(text, next.text);
      setText(advice, next.advice);
      acts.update(next.holder, next.paths);
      setAttribute(button, 'title', next.paths.join('\n') || null);
    },
  };
}
