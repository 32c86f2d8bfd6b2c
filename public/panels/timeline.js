// The time view: a lane for each agent over the last hours, and the figures of that time.

import { keyedChildren, makeButton, makeElement, setAttribute, setText } from '../app/dom.js';
import { formatCount } from '../app/formatting.js';
import { nameOf, splitHolder } from '../app/holder.js';
import { duration, timeOfDay } from '../app/time.js';
import { timelineLanes, totalDuration } from '../app/timeline_lanes.js';
import { badge, holderName } from './elements.js';
import { onTick } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/timeline_lanes.js').Span} Span */
/** @typedef {import('../app/timeline_lanes.js').Lane & Span} Lane With the visible time. */

const MINUTE = 60_000;
/** The times to choose from, in minutes, and the longest time that is selected by default. */
const MINUTES = [5, 20, 60, 240, 720, 1440];
const LONGEST_DEFAULT = 240;
/** Interval of drawing the view without a change of the state. */
const REDRAW_SECONDS = 10;
const AXIS_STEPS = 5;
/** Maximum number of pages of the log that the page reads when the user opens the view. */
const MAX_PAGES = 8;
const LEGEND = [['held', 'Holds files'], ['waited', 'Waits'], ['refused', 'Refused'], ['pushed', 'Pushed']];

/** @param {HTMLElement} element @param {Model} model */
export function mountTimeline(element, model) {
  let minutes = MINUTES[0];
  /** Whether the user has selected the time. */
  let isChosen = false;
  let isReading = false;
  const options = MINUTES.map((each) => makeElement('option', { value: each }, optionLabel(each)));
  const attributes = { 'aria-label': 'Time shown', onchange: onSelect };
  const select = makeElement('select', attributes, ...options);
  const legend = makeElement('ul', { class: 'lane-legend', 'aria-label': 'What the colors of lanes mean' },
    ...LEGEND.map(([kind, text]) =>
      makeElement('li', {}, makeElement('span', { class: `lane-key is-${kind}` }), text)));
  const figureList = makeElement('dl', { class: 'figures' });
  const figure = (/** @type {string} */ name) => {
    const value = makeElement('dd');
    figureList.append(makeElement('div', {}, makeElement('dt', {}, name), value));
    return value;
  };
  const timeWaited = figure('Time waited');
  const refusedClaims = figure('Refused claims');
  const conflictsAvoided = figure('Conflicts avoided');
  const pushCount = figure('Pushes');
  setAttribute(conflictsAvoided, 'title', 'Refused claims whose file the holder then changed and pushed');
  const axis = makeElement('div', { class: 'lane-axis', 'aria-hidden': 'true' });
  const list = makeElement('ul');
  const note = makeElement('p', { class: 'soft lane-note', role: 'status' });
  element.classList.add('panel');
  element.append(
    makeElement('div', { class: 'lane-head' }, makeElement('h2', { class: 'panel-title' }, 'Time'), select, legend),
    figureList, axis, list, note);
  const keyOf = (/** @type {Lane} */ { holder }) => holder;
  const renderLanes = keyedChildren(list, keyOf, ({ holder }) => laneRow(model, holder));
  let [from, to] = [0, 0];

  function onSelect() {
    isChosen = true;
    minutes = Number(select.value);
    render();
    read();
  }

  function render() {
    if (element.hidden) return;
    const { activity, hasOlder } = model.state;
    const now = model.now();
    if (!isChosen) minutes = defaultMinutes(activity, now);
    select.value = String(minutes);
    [from, to] = [now - minutes * MINUTE, now];
    const { lanes, figures } = timelineLanes(model.state, from, now);
    renderLanes(lanes.map((lane) => ({ ...lane, from, to })));
    setText(timeWaited, duration(figures.waited));
    setText(refusedClaims, String(figures.refusals));
    setText(conflictsAvoided, String(figures.avoided));
    setText(pushCount, String(figures.pushes));
    axis.replaceChildren(...Array.from({ length: AXIS_STEPS + 1 }, (_, step) => {
      const at = from + ((to - from) * step) / AXIS_STEPS;
      const mark = makeElement('span', {}, step === AXIS_STEPS ? 'now' : timeOfDay(at, now).slice(0, -3));
      mark.style.left = `${(100 * step) / AXIS_STEPS}%`;
      return mark;
    }));
    axis.hidden = lanes.length === 0;
    const first = activity.at(-1)?.at ?? now;
    let text = '';
    if (isReading) text = 'Reading older events';
    else if (lanes.length === 0) text = 'No agent held or wanted a file in this time.';
    else if (hasOlder && first > from) text = `Figures since ${timeOfDay(first, now)}: older events are not read.`;
    setText(note, text);
  }

  /** Reads the log as far back as the view goes. */
  async function read() {
    if (isReading || element.hidden) return;
    isReading = true;
    const first = isChosen ? from : model.now() - LONGEST_DEFAULT * MINUTE;
    const isCut = () => model.state.hasOlder && (model.state.activity.at(-1)?.at ?? 0) > first;
    try {
      for (let page = 0; page < MAX_PAGES && !element.hidden && isCut(); page += 1) await model.loadOlder();
    } catch {
      // The note says since when the figures count.
    }
    isReading = false;
    render();
  }

  let wasHidden = true;
  onTick(render, REDRAW_SECONDS);
  const causes = /** @type {const} */ (['activity', 'locks', 'agents', 'place']);
  model.subscribe((changed) => {
    const isOpened = wasHidden && !element.hidden;
    wasHidden = element.hidden;
    if (isOpened || causes.some((part) => changed.has(part))) render();
    const { isActivityRead, activity } = model.state;
    const isFirstPage = changed.has('activity') && isActivityRead && activity.length <= 100;
    if (isOpened || (isFirstPage && !isReading)) read();
  });
  render();
}

/** @param {number} minutes */
function optionLabel(minutes) {
  if (minutes < 60) return `Last ${minutes} minutes`;
  return minutes === 60 ? 'Last hour' : `Last ${minutes / 60} hours`;
}

/**
 * @param {import('../app/types.js').Activity[]} activity The newest first.
 * @param {number} now
 * @returns {number} The shortest time that has all activity of agents within the longest default.
 */
function defaultMinutes(activity, now) {
  const first = activity.findLast(({ holder, isOfTeam, at }) =>
    holder !== null && !isOfTeam && now - at <= LONGEST_DEFAULT * MINUTE);
  return first ? MINUTES.find((each) => each * MINUTE >= now - first.at) ?? LONGEST_DEFAULT : LONGEST_DEFAULT;
}

/** @param {Model} model @param {string} holder */
function laneRow(model, holder) {
  const { user, agentId } = splitHolder(holder);
  const name = holderName(model, holder);
  const track = makeElement('div', { class: 'lane-track', role: 'img' });
  const onclick = () => model.go({ agent: holder });
  const node = makeElement('li', { class: 'lane' },
    makeButton({ class: 'lane-name', onclick }, badge(holder, agentId, user), name.node), track);
  let shownKey = '';
  return {
    node,
    /** @param {Lane} lane */
    update({ held, waited, refused, pushed, from, to }) {
      name.update();
      setAttribute(node, 'aria-current', model.state.place.agent === holder ? 'true' : null);
      const facts = [
        `held files for ${duration(totalDuration(held))}`,
        `waited ${duration(totalDuration(waited))}`,
        `refused ${formatCount(refused.length, 'time')}`,
        `pushed ${formatCount(pushed.length, 'time')}`,
      ];
      setAttribute(track, 'aria-label', `${nameOf(model.state, holder)}: ${facts.join(', ')}`);
      const key = JSON.stringify([held, waited, refused, pushed, Math.round(from / 1000)]);
      if (key === shownKey) return;
      shownKey = key;
      const percent = (/** @type {number} */ ms) => `${((100 * ms) / (to - from)).toFixed(3)}%`;
      const spanMark = (/** @type {string} */ kind, /** @type {string} */ title, /** @type {Span} */ span) => {
        const times = `${timeOfDay(span.from, to)} to ${timeOfDay(span.to, to)}`;
        const mark = makeElement('span', { class: `lane-span is-${kind}`, title: `${title} ${times}` });
        mark.style.left = percent(span.from - from);
        mark.style.width = percent(span.to - span.from);
        return mark;
      };
      const tickMark = (/** @type {string} */ kind, /** @type {string} */ title, /** @type {number} */ at) => {
        const mark = makeElement('span', { class: `lane-tick is-${kind}`, title: `${title} ${timeOfDay(at, to)}` });
        mark.style.left = percent(at - from);
        return mark;
      };
      track.replaceChildren(
        ...held.map((span) => spanMark('held', 'Held files', span)),
        ...waited.map((span) => spanMark('waited', 'Waited', span)),
        ...refused.map((at) => tickMark('refused', 'Refused', at)),
        ...pushed.map((at) => tickMark('pushed', 'Pushed', at)));
    },
  };
}
