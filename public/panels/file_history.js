// The history of the selected file: the events of the log that name it.

import { keyedChildren, makeButton, makeElement, setText } from '../app/dom.js';
import { errorSentence, formatCount } from '../app/formatting.js';
import { activityRow } from './activity_row.js';
import { detailSection } from './elements.js';
import { feedRows, keyOfEntry } from './feed.js';

/** @import { Activity, Model } from '../app/types.js' */
/** @import { FeedRow } from './feed.js' */

const FIRST = 6;
const NO_FILTER = { holder: '', folder: '', kind: '' };

/** @param {Model} model */
export function fileHistory(model) {
  let path = '';
  let maxRows = FIRST;
  let lastRequest = 0;
  /** @type {Activity[]} */
  let events = [];
  const list = makeElement('ol');
  const note = makeElement('p', { class: 'soft', role: 'status' });
  const more = makeButton({ class: 'quiet', onclick: showAll });
  const node = detailSection('History', list, note, more);
  const renderRows = keyedChildren(list, (/** @type {FeedRow} */ row) => row.key, (row) => {
    if (row.type === 'divider') throw new Error('the history has no divider');
    const { node: item, update } = activityRow(model, row.entry, { withFiles: false });
    return { node: item, update: (/** @type {FeedRow} */ { count }) => update({ count, isAbsolute: false }) };
  });

  function showAll() {
    maxRows = Infinity;
    render();
  }

  function render() {
    const rows = feedRows(events, NO_FILTER);
    renderRows(rows.slice(0, maxRows));
    more.hidden = rows.length <= maxRows;
    setText(more, `Show all ${formatCount(rows.length, 'event')}`);
  }

  return {
    node,
    /** @param {string} next */
    async show(next) {
      path = next;
      maxRows = FIRST;
      events = [];
      lastRequest += 1;
      const request = lastRequest;
      render();
      setText(note, 'Reading the log');
      try {
        const history = await model.historyOf(next);
        if (request !== lastRequest) return;
        events = merge(events, history);
        setText(note, events.length === 0 ? 'The log has no events for this file.' : '');
      } catch (error) {
        if (request !== lastRequest) return;
        setText(note, `The log cannot be read: ${errorSentence(error)}`);
      }
      render();
    },
    /** Adds the new events of the file. */
    refresh() {
      events = merge(model.state.activity.filter(({ paths }) => paths.includes(path)), events);
      if (events.length > 0) setText(note, '');
      render();
    },
  };
}

/** @param {Activity[]} newer @param {Activity[]} older @returns {Activity[]} The newest first, each once. */
function merge(newer, older) {
  const newerKeys = new Set(newer.map(keyOfEntry));
  const entries = [...newer, ...older.filter((entry) => !newerKeys.has(keyOfEntry(entry)))];
  return entries.sort((a, b) => b.at - a.at).map((entry) => ({ ...entry, isCaughtUp: false }));
}
