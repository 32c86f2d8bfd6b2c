// The live feed of activity, the newest first. It stands still while the user reads further down, and reads older
// events from the log.

import {
  icon, iconButton, keyedChildren, makeButton, makeElement, setAttribute, setIcon, setText,
} from '../app/dom.js';
import { errorSentence, formatCount } from '../app/formatting.js';
import { activityFilter } from './activity_filter.js';
import { activityRow } from './activity_row.js';
import { panelHead } from './elements.js';
import { countNewer, feedRows, keyOfEntry, matchesFilter, omitRenewals } from './feed.js';
import { onTick } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('./feed.js').FeedRow} FeedRow */

/** Rows in the document at first, and the rows that are added each time the end comes into view. */
const PAGE = 100;
/** Interval of drawing the ages of the entries. */
const REDRAW_SECONDS = 10;
/** Pixels from the top within which the feed keeps running. */
const AT_TOP = 8;

/** @param {HTMLElement} element @param {Model} model */
export function mountActivity(element, model) {
  let filter = { holder: '', folder: '', kind: '' };
  let isAbsolute = false;
  let isPaused = false;
  let isLoading = false;
  let maxRows = PAGE;
  /** Key of the newest visible entry while the feed stands still. @type {string | null} */
  let heldAt = null;

  const filterBar = activityFilter((next) => {
    filter = next;
    maxRows = PAGE;
    scroller.scrollTop = 0;
    render();
  });
  const pauseIcon = icon('pause');
  const pause = makeButton({
    class: 'icon-button', 'aria-pressed': 'false', 'aria-label': 'Pause the activity', title: 'Pause',
    onclick: togglePause,
  }, pauseIcon);
  const times = iconButton('clock', {
    'aria-pressed': 'false', 'aria-label': 'Show the time of day', title: 'Show the time of day', onclick: toggleTimes,
  });
  const newEntries = makeButton({ class: 'feed-new', hidden: true, onclick: resume });
  const list = makeElement('ol');
  const older = makeButton({ class: 'quiet feed-older', onclick: loadOlder }, 'Load older');
  const end = makeElement('p', { class: 'feed-end soft', role: 'status' });
  const scroller = makeElement('div', {
    class: 'feed-scroller', tabindex: '0', role: 'region', 'aria-label': 'Activity, the newest first',
    onscroll: onScroll,
  }, list, older, end);
  element.classList.add('panel', 'activity');
  element.append(
    panelHead(['Activity'], times, pause), filterBar.node,
    makeElement('div', { class: 'feed-frame' }, newEntries, scroller));

  const renderRows = keyedChildren(list, (/** @type {FeedRow} */ row) => row.key, (row) => {
    if (row.type === 'divider') {
      const node = makeElement('li', { class: 'feed-divider' });
      const update = (/** @type {FeedRow} */ { count }) =>
        setText(node, `While you were offline: ${formatCount(count, 'event')}`);
      return { node, update };
    }
    const { node, update } = activityRow(model, row.entry, { withFiles: true });
    return { node, update: (/** @type {FeedRow} */ { count }) => update({ count, isAbsolute }) };
  });

  function render() {
    const { activity, isActivityRead, hasOlder } = model.state;
    const skipped = heldAt === null ? 0 : countNewer(activity, heldAt);
    const newer = new Set(activity.slice(0, skipped));
    const unseen = newer.size === 0
      ? []
      : omitRenewals(activity, filter.kind).filter((entry) => newer.has(entry) && matchesFilter(entry, filter));
    const rows = feedRows(skipped > 0 ? activity.slice(skipped) : activity, filter);
    renderRows(rows.slice(0, maxRows));
    filterBar.update(model.state);
    newEntries.hidden = unseen.length === 0;
    setText(newEntries, `${unseen.length} new`);
    older.hidden = !(hasOlder || rows.length > maxRows);
    if (isLoading) return;
    if (!isActivityRead) setText(end, 'Reading the activity.');
    else if (rows.length > 0) setText(end, older.hidden ? 'Nothing older to show.' : '');
    else if (activity.length > 0) setText(end, 'Nothing matches the filter.');
    else setText(end, 'Nothing has happened yet. Claims, releases and refusals appear here.');
  }

  /** Stops the feed at the entries that it shows, or lets it run. */
  function updateHold() {
    const isHeld = isPaused || scroller.scrollTop > AT_TOP;
    if (!isHeld) heldAt = null;
    else if (heldAt === null && model.state.activity.length > 0) heldAt = keyOfEntry(model.state.activity[0]);
    else return;
    render();
  }

  function onScroll() {
    if (scroller.scrollTop <= AT_TOP) maxRows = PAGE;
    updateHold();
  }

  function resume() {
    if (isPaused) togglePause();
    scroller.scrollTop = 0;
    heldAt = null;
    maxRows = PAGE;
    render();
    scroller.focus({ preventScroll: true });
  }

  function togglePause() {
    isPaused = !isPaused;
    setAttribute(pause, 'aria-pressed', String(isPaused));
    setIcon(pauseIcon, isPaused ? 'play' : 'pause');
    pause.title = isPaused ? 'Resume' : 'Pause';
    updateHold();
  }

  function toggleTimes() {
    isAbsolute = !isAbsolute;
    setAttribute(times, 'aria-pressed', String(isAbsolute));
    render();
  }

  async function loadOlder() {
    if (isLoading) return;
    if (feedRows(model.state.activity, filter).length > maxRows) {
      maxRows += PAGE;
      render();
      return;
    }
    if (!model.state.hasOlder) return;
    isLoading = true;
    setAttribute(older, 'aria-busy', 'true');
    setText(end, 'Loading older events');
    let problem = '';
    try {
      await model.loadOlder();
      maxRows += PAGE;
    } catch (error) {
      problem = `The log cannot be read: ${errorSentence(error)} Try again.`;
    }
    isLoading = false;
    setAttribute(older, 'aria-busy', null);
    render();
    if (problem) setText(end, problem);
  }

  // The end loads more on its own only after the user has scrolled: a short feed would read the whole log.
  const observer = new IntersectionObserver(([entry]) => {
    if (entry.isIntersecting && scroller.scrollTop > AT_TOP) loadOlder();
  }, { root: scroller, rootMargin: '200px' });
  observer.observe(older);
  onTick(() => isAbsolute || render(), REDRAW_SECONDS);
  let { agent } = model.state.place;
  if (agent !== null) filterBar.chooseHolder(agent);
  model.subscribe((changed) => {
    // The feed follows the selected agent.
    if (model.state.place.agent !== agent) {
      agent = model.state.place.agent;
      filterBar.chooseHolder(agent ?? '');
    }
    if (changed.has('activity') || changed.has('agents') || changed.has('intents')) render();
  });
  render();
}
