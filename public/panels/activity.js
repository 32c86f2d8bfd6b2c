// The feed of activity: the newest first, live. It holds still while somebody reads further down, and reads older events from the log.

import { icon, keyedChildren, make, setAttribute, setIcon, setText } from '../app/dom.js';
import { counted } from '../app/words.js';
import { activityFilter } from './activity_filter.js';
import { activityRow } from './activity_row.js';
import { feedRows, isShown, keyOfEntry, newerThan, withoutRenewals } from './feed.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('./feed.js').FeedRow} FeedRow */

/** Rows in the document at first, and how many more each time that the end comes into view. */
const PAGE = 100;
const AT_TOP = 8;

/**
 * @param {HTMLElement} element
 * @param {Model} model
 */
export function mountActivity(element, model) {
  let filter = { holder: '', folder: '', kind: '' };
  let isAbsolute = false;
  let isPaused = false;
  let isLoading = false;
  let most = PAGE;
  /** Key of the newest entry that is shown while the feed holds still. @type {string | null} */
  let heldAt = null;

  const choices = activityFilter((next) => {
    filter = next;
    most = PAGE;
    scroller.scrollTop = 0;
    render();
  });
  const pauseIcon = icon('pause');
  const pause = make('button', { type: 'button', class: 'icon-button', 'aria-pressed': 'false', 'aria-label': 'Pause the activity', title: 'Pause', onclick: togglePause }, pauseIcon);
  const times = make('button', { type: 'button', class: 'icon-button', 'aria-pressed': 'false', 'aria-label': 'Show the time of day', title: 'Show the time of day', onclick: toggleTimes }, icon('clock'));
  const fresh = make('button', { type: 'button', class: 'feed-new', hidden: true, onclick: resume });
  const list = make('ol', { class: 'feed-list' });
  const older = make('button', { type: 'button', class: 'quiet feed-older', onclick: loadOlder }, 'Load older');
  const end = make('p', { class: 'feed-end soft', role: 'status' });
  const scroller = make('div', { class: 'feed-scroller', tabindex: '0', role: 'region', 'aria-label': 'Activity, the newest first', onscroll: onScroll }, list, older, end);
  element.classList.add('panel', 'activity');
  element.append(
    make('div', { class: 'panel-head' }, make('h2', { class: 'panel-title' }, 'Activity'), times, pause), choices.node,
    make('div', { class: 'feed-frame' }, fresh, scroller));

  const renderRows = keyedChildren(list, (/** @type {FeedRow} */ row) => row.key, (row) => {
    if (row.type === 'divider') {
      const node = make('li', { class: 'feed-divider' });
      return { node, update: (next) => setText(node, `While you were offline: ${counted(next.type === 'divider' ? next.count : 0, 'event')}`) };
    }
    const { node, update } = activityRow(model, row.entry, { withFiles: true });
    return { node, update: (next) => next.type === 'entry' && update({ count: next.count, isAbsolute }) };
  });

  function render() {
    const { activity, isActivityRead, hasOlder } = model.state;
    const skipped = heldAt === null ? 0 : newerThan(activity, heldAt);
    const newer = new Set(activity.slice(0, skipped));
    const waiting = newer.size === 0 ? 0 : withoutRenewals(activity, filter.kind).filter((entry) => newer.has(entry) && isShown(entry, filter)).length;
    const rows = feedRows(skipped > 0 ? activity.slice(skipped) : activity, filter);
    renderRows(rows.slice(0, most));
    choices.update(model.state);
    fresh.hidden = waiting === 0;
    setText(fresh, `${waiting} new`);
    older.hidden = !(hasOlder || rows.length > most);
    if (isLoading) return;
    if (!isActivityRead) setText(end, 'Reading the activity.');
    else if (rows.length === 0) setText(end, activity.length === 0 ? 'Nothing has happened yet. Claims, releases and refusals appear here.' : 'Nothing matches the filter.');
    else setText(end, older.hidden ? 'Nothing older to show.' : '');
  }

  /** Holds the feed at what it shows, or lets it run. */
  function hold() {
    const isHeld = isPaused || scroller.scrollTop > AT_TOP;
    if (!isHeld) heldAt = null;
    else if (heldAt === null && model.state.activity.length > 0) heldAt = keyOfEntry(model.state.activity[0]);
    else return;
    render();
  }

  function onScroll() {
    if (scroller.scrollTop <= AT_TOP) most = PAGE;
    hold();
  }

  function resume() {
    if (isPaused) togglePause();
    scroller.scrollTop = 0;
    heldAt = null;
    most = PAGE;
    render();
    scroller.focus({ preventScroll: true });
  }

  function togglePause() {
    isPaused = !isPaused;
    setAttribute(pause, 'aria-pressed', String(isPaused));
    setIcon(pauseIcon, isPaused ? 'play' : 'pause');
    pause.title = isPaused ? 'Resume' : 'Pause';
    hold();
  }

  function toggleTimes() {
    isAbsolute = !isAbsolute;
    setAttribute(times, 'aria-pressed', String(isAbsolute));
    render();
  }

  async function loadOlder() {
    if (isLoading) return;
    if (feedRows(model.state.activity, filter).length > most) {
      most += PAGE;
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
      most += PAGE;
    } catch (error) {
      problem = `The log cannot be read: ${error instanceof Error ? error.message : error}. Try again.`;
    }
    isLoading = false;
    setAttribute(older, 'aria-busy', null);
    render();
    if (problem) setText(end, problem);
  }

  // The end loads more on its own only for a reader who has scrolled there: a short feed would read the whole log.
  const observer = new IntersectionObserver(([entry]) => {
    if (entry.isIntersecting && scroller.scrollTop > AT_TOP) loadOlder();
  }, { root: scroller, rootMargin: '200px' });
  observer.observe(older);
  let beat = 0;
  const endTicks = everySecond(() => {
    beat += 1;
    if (!isAbsolute && beat % 10 === 0) render();
  });
  let { agent } = model.state.place;
  /** Of the selected agent, what it did is shown. */
  function follow() {
    if (model.state.place.agent === agent) return;
    agent = model.state.place.agent;
    choices.chooseHolder(agent ?? '');
  }
  if (agent !== null) choices.chooseHolder(agent);
  const unsubscribe = model.subscribe((changed) => {
    follow();
    if (changed.has('activity') || changed.has('agents') || changed.has('intents')) render();
  });
  render();
  return {
    destroy() {
      observer.disconnect();
      endTicks();
      unsubscribe();
    },
  };
}
