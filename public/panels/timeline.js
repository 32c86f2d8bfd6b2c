// The time view: a lane for each agent over the last hours, and the figures of that time.

import { keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { lanesOf, lengthOf } from '../app/lanes.js';
import { holderParts, nameOf } from '../app/names.js';
import { clock, duration } from '../app/time.js';
import { counted } from '../app/words.js';
import { holderName } from './holder_name.js';
import { badge } from './parts.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/lanes.js').Lane & { from: number, to: number }} Lane With the time that is shown. */

const MINUTE = 60_000;
/** Times that can be shown, in minutes, and the longest that is shown unless another is chosen. */
const MINUTES = [5, 20, 60, 240, 720, 1440];
const USUAL = 240;
/** Between two drawings that time alone wants. */
const BEATS = 10;
const AXIS_STEPS = 5;
/** Pages of the log that are read for one opening of the view. */
const MOST_PAGES = 8;
const LEGEND = [['held', 'Holds files'], ['waited', 'Waits'], ['refused', 'Refused'], ['pushed', 'Pushed']];

/**
 * @param {HTMLElement} element
 * @param {Model} model
 */
export function mountTimeline(element, model) {
  let minutes = MINUTES[0];
  /** Whether somebody has chosen the time. */
  let isChosen = false;
  let isReading = false;
  const select = /** @type {HTMLSelectElement} */ (make('select', { 'aria-label': 'Time shown', onchange: () => { isChosen = true; minutes = Number(select.value); render(); read(); } },
    ...MINUTES.map((each) => make('option', { value: each }, each < 60 ? `Last ${each} minutes` : each === 60 ? 'Last hour' : `Last ${each / 60} hours`))));
  const figures = make('dl', { class: 'figures' });
  const values = ['Time waited', 'Refused claims', 'Conflicts avoided', 'Pushes'].map((name) => {
    const value = make('dd', {});
    figures.append(make('div', {}, make('dt', {}, name), value));
    return value;
  });
  setAttribute(values[2], 'title', 'Refused claims whose file the holder then changed and pushed');
  const axis = make('div', { class: 'lane-axis', 'aria-hidden': 'true' });
  const list = make('ul', { class: 'lane-list' });
  const note = make('p', { class: 'soft lane-note', role: 'status' });
  element.classList.add('panel', 'timeline');
  element.append(
    make('div', { class: 'lane-head' }, make('h2', { class: 'panel-title' }, 'Time'), select, make('ul', { class: 'lane-legend', 'aria-label': 'What the colors of lanes mean' }, ...LEGEND.map(([kind, text]) => make('li', {}, make('span', { class: `lane-key is-${kind}` }), text)))),
    figures, axis, list, note);
  const renderLanes = keyedChildren(list, (/** @type {Lane} */ { holder }) => holder, ({ holder }) => laneRow(model, holder));
  let [from, to] = [0, 0];

  function render() {
    if (element.hidden) return;
    const now = model.now();
    if (!isChosen) minutes = usualMinutes(model.state.activity, now);
    select.value = String(minutes);
    [from, to] = [now - minutes * MINUTE, now];
    const { lanes, figures: { waited, refusals, avoided, pushes } } = lanesOf(model.state, from, now);
    renderLanes(lanes.map((lane) => ({ ...lane, from, to })));
    [duration(waited), refusals, avoided, pushes].forEach((value, index) => setText(values[index], String(value)));
    axis.replaceChildren(...Array.from({ length: AXIS_STEPS + 1 }, (_, step) => {
      const at = from + ((to - from) * step) / AXIS_STEPS;
      const mark = make('span', {}, step === AXIS_STEPS ? 'now' : clock(at, now).slice(0, -3));
      mark.style.left = `${(100 * step) / AXIS_STEPS}%`;
      return mark;
    }));
    axis.hidden = lanes.length === 0;
    const first = model.state.activity.at(-1)?.at ?? now;
    const isCut = model.state.hasOlder && first > from;
    setText(note, isReading ? 'Reading older events' : lanes.length === 0 ? 'No agent held or wanted a file in this time.' : isCut ? `Figures since ${clock(first, now)}: older events are not read.` : '');
  }

  /** The log as far back as the view goes. */
  async function read() {
    if (isReading || element.hidden) return;
    isReading = true;
    const first = isChosen ? from : model.now() - USUAL * MINUTE;
    try {
      for (let page = 0; page < MOST_PAGES && !element.hidden && model.state.hasOlder && (model.state.activity.at(-1)?.at ?? 0) > first; page += 1) await model.loadOlder();
    } catch {
      // What is known is shown, and since when.
    }
    isReading = false;
    render();
  }

  let isHidden = true;
  let beat = 0;
  const endTicks = everySecond(() => {
    beat += 1;
    if (beat % BEATS === 0) render();
  });
  const unsubscribe = model.subscribe((changed) => {
    const isOpened = isHidden && !element.hidden;
    isHidden = element.hidden;
    if (isOpened || changed.has('activity') || changed.has('locks') || changed.has('agents') || changed.has('place')) render();
    if (isOpened || (changed.has('activity') && model.state.isActivityRead && !isReading && model.state.activity.length <= 100)) read();
  });
  render();
  return {
    destroy() {
      endTicks();
      unsubscribe();
    },
  };
}

/**
 * @param {import('../app/types.js').Activity[]} activity The newest first.
 * @param {number} now
 * @returns {number} Minutes that have all that agents are known to have done in the usual time.
 */
function usualMinutes(activity, now) {
  const first = activity.findLast(({ holder, isOfTeam, at }) => holder !== null && !isOfTeam && now - at <= USUAL * MINUTE);
  return first ? MINUTES.find((each) => each * MINUTE >= now - first.at) ?? USUAL : USUAL;
}

/** @param {Model} model @param {string} holder */
function laneRow(model, holder) {
  const { user, agentId } = holderParts(holder);
  const name = holderName(model, holder);
  const track = make('div', { class: 'lane-track', role: 'img' });
  const node = make('li', { class: 'lane' },
    make('button', { type: 'button', class: 'lane-name', onclick: () => model.go({ agent: holder }) }, badge(holder, agentId, user), name.node), track);
  let shown = '';
  return {
    node,
    /** @param {Lane} lane */
    update({ held, waited, refused, pushed, from, to }) {
      name.update();
      setAttribute(node, 'aria-current', model.state.place.agent === holder ? 'true' : null);
      const said = [`held files for ${duration(lengthOf(held))}`, `waited ${duration(lengthOf(waited))}`, `refused ${counted(refused.length, 'time')}`, `pushed ${counted(pushed.length, 'time')}`];
      setAttribute(track, 'aria-label', `${nameOf(model.state, holder)}: ${said.join(', ')}`);
      const key = JSON.stringify([held, waited, refused, pushed, Math.round(from / 1000)]);
      if (key === shown) return;
      shown = key;
      const share = (/** @type {number} */ at) => `${((100 * (at - from)) / (to - from)).toFixed(3)}%`;
      const span = (/** @type {string} */ kind, /** @type {string} */ title, /** @type {{ from: number, to: number }} */ part) => {
        const mark = make('span', { class: `lane-span is-${kind}`, title: `${title} ${clock(part.from, to)} to ${clock(part.to, to)}` });
        mark.style.left = share(part.from);
        mark.style.width = `${((100 * (part.to - part.from)) / (to - from)).toFixed(3)}%`;
        return mark;
      };
      const tick = (/** @type {string} */ kind, /** @type {string} */ title, /** @type {number} */ at) => {
        const mark = make('span', { class: `lane-tick is-${kind}`, title: `${title} ${clock(at, to)}` });
        mark.style.left = share(at);
        return mark;
      };
      track.replaceChildren(
        ...held.map((part) => span('held', 'Held files', part)), ...waited.map((part) => span('waited', 'Waited', part)),
        ...refused.map((at) => tick('refused', 'Refused', at)), ...pushed.map((at) => tick('pushed', 'Pushed', at)));
    },
  };
}
