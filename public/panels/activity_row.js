// One entry of the feed, or of the history of a file.

import { keyOfEntry, deedOf } from './feed.js';
import { icon, make, setText } from '../app/dom.js';
import { badge, commandChip, fileButton, holderName, intentButton, memberBadge, moment } from './parts.js';

/** @import { Activity, Model } from '../app/types.js' */

const PATHS_SHOWN = 3;
const ICONS = new Map([
  ['head_moved', 'branch'], ['lock_refused', 'warning'], ['lock_expired', 'clock'], ['lock_released', 'lock'],
]);
/** Kinds whose first line contains the detail: a claim says its mode, and that it was granted. */
const KINDS_WITH_DETAIL = ['lock_granted', 'lock_renewed', 'intent_changed'];

/**
 * @param {Model} model
 * @param {Activity} entry Never changes.
 * @param {{ withFiles: boolean }} options
 */
export function activityRow(model, entry, { withFiles }) {
  const at = moment();
  const repetitions = make('span', { class: 'entry-count' });
  const detail = KINDS_WITH_DETAIL.includes(entry.kind) || entry.isOfTeam ? null : entry.detail;
  const command = entry.command && entry.command !== 'PROCEED' ? commandChip(entry.command) : null;
  const message = messageOf(model, entry);
  const intent = entry.intentId ? intentButton(model, entry.intentId) : null;
  const buttons = withFiles ? entry.paths.slice(0, PATHS_SHOWN).map((path) => fileButton(model, path)) : [];
  const more = entry.fileCount - buttons.length;
  // Events of teams name a member by its handle.
  const member = entry.isOfTeam && entry.holder ? memberBadge(model) : null;
  const actor = entry.holder ? holderName(model, entry.holder, 'entry-who') : null;
  const node = make('li', {
    class: 'entry', 'data-kind': entry.kind, 'data-key': keyOfEntry(entry), 'data-caught-up': entry.isCaughtUp,
  },
    member?.node ?? actorBadge(entry),
    make('div', { class: 'entry-text' },
      make('div', { class: 'entry-head' },
        make('span', { class: 'entry-deed' }, actor?.node, actor && ' ', deedOf(entry, !withFiles)),
        repetitions, at.node),
      message ? make('p', { class: 'entry-message' }, message) : null,
      detail || command ? make('p', { class: 'entry-detail' }, detail, detail && command ? ' ' : null, command) : null,
      intent ? make('p', { class: 'intent-line soft' }, 'Intent:', intent.node) : null,
      buttons.length > 0
        ? make('p', { class: 'entry-files' },
          ...buttons.map(({ node: button }) => button),
          more > 0 ? make('span', { class: 'soft' }, `and ${more} more`) : null)
        : null));
  // The buttons show no lock: a row about the past must not show what is locked now.
  for (const button of buttons) button.update(null);

  return {
    node,
    /** @param {{ count: number, isAbsolute: boolean }} options */
    update({ count, isAbsolute }) {
      if (entry.holder) member?.update(entry.holder);
      setText(repetitions, count > 1 ? `\u00d7${count}` : '');
      repetitions.title = count > 1 ? `${count} times` : '';
      intent?.update();
      actor?.update();
      at.update(entry.at, model.now(), isAbsolute);
    },
  };
}

/** @param {Activity} entry @returns {HTMLElement} */
function actorBadge({ holder, agentId, userName, kind }) {
  if (holder) return badge(holder, agentId, userName);
  return make('span', { class: 'badge badge-none', 'aria-hidden': 'true' }, icon(ICONS.get(kind) ?? 'map'));
}

/**
 * @param {Model} model
 * @param {Activity} entry
 * @returns {Node | string | null} A button if the entry is about a task that still exists.
 */
function messageOf(model, { task, team, kind, message }) {
  if (message === null || task === null || kind === 'task_deleted') return message;
  const onclick = () => model.go({ view: 'board', team, task });
  return make('button', { type: 'button', class: 'quiet intent-button', title: 'Show the task', onclick }, message);
}
