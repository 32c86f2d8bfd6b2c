// The history of the selected file: the events of the log that name it.

import { activityRow } from './activity_row.js';
import { keyedChildren, make, setText } from '../app/dom.js';
import { counted } from '../app/words.js';
import { feedRows, keyOfEntry } from './feed.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').Activity} Activity */
/** @typedef {import('./feed.js').FeedRow} FeedRow */

const FIRST = 6;
const ALL = { holder: '', folder: '', kind: '' };

/** @param {Model} model */
export function fileHistory(model) {
  let path = '';
  let most = FIRST;
  let asked = 0;
  /** @type {Activity[]} */
  let events = [];
  const list = make('ol', { class: 'feed-list' });
  const note = make('p', { class: 'soft', role: 'status' });
  const more = make('button', { type: 'button', class: 'quiet', onclick: () => { most = Infinity; render(); } });
  const node = make('section', { class: 'file-section' }, make('h3', {}, 'History'), list, note, more);
  const renderRows = keyedChildren(list, (/** @type {FeedRow} */ row) => row.key, (row) => {
    if (row.type === 'divider') throw new Error('the history has no divider');
    const { node: item, update } = activityRow(model, row.entry, { withFiles: false });
    return { node: item, update: (next) => next.type === 'entry' && update({ count: next.count, isAbsolute: false }) };
  });

  function render() {
    const rows = feedRows(events, ALL);
    renderRows(rows.slice(0, most));
    more.hidden = rows.length <= most;
    setText(more, `Show all ${counted(rows.length, 'event')}`);
  }

  return {
    node,
    /** @param {string} next */
    async show(next) {
      path = next;
      most = FIRST;
      events = [];
      asked += 1;
      const own = asked;
      render();
      setText(note, 'Reading the log');
      try {
        const read = await model.historyOf(next);
        if (own !== asked) return;
        events = merge(events, read);
        setText(note, events.length === 0 ? 'The log has no event about it.' : '');
      } catch (error) {
        if (own !== asked) return;
        setText(note, `The log cannot be read: ${error instanceof Error ? error.message : error}`);
      }
      render();
    },
    /** Adds what has arrived about the file since. */
    refresh() {
      events = merge(model.state.activity.filter(({ paths }) => paths.includes(path)), events);
      if (events.length > 0) setText(note, '');
      render();
    },
    destroy() {
      asked += 1;
    },
  };
}

/** @param {Activity[]} newer @param {Activity[]} older @returns {Activity[]} The newest first, each once. */
function merge(newer, older) {
  const known = new Set(newer.map(keyOfEntry));
  return [...newer, ...older.filter((entry) => !known.has(keyOfEntry(entry)))].sort((a, b) => b.at - a.at).map((entry) => ({ ...entry, isCaughtUp: false }));
}
