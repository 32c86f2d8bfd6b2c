// One entry of the feed, or of the history of a file.

import { icon, makeButton, makeElement, setText } from '../app/dom.js';
import {
  badge, commandChip, entryRow, fileButtons, holderName, intentButton, memberBadge, timeLabel,
} from './elements.js';
import { describeEvent, keyOfEntry } from './feed.js';

/** @import { Activity, Model } from '../app/types.js' */

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
  const at = timeLabel();
  const repetitions = makeElement('span', { class: 'entry-count' });
  const detail = KINDS_WITH_DETAIL.includes(entry.kind) || entry.isOfTeam ? null : entry.detail;
  const command = entry.command && entry.command !== 'PROCEED' ? commandChip(entry.command) : null;
  const message = messageOf(model, entry);
  const intent = entry.intentId ? intentButton(model, entry.intentId) : null;
  const files = withFiles && entry.paths.length > 0 ? fileButtons(model, entry.paths, entry.fileCount) : null;
  // Events of teams name a member by its handle.
  const member = entry.isOfTeam && entry.holder ? memberBadge(model) : null;
  const actor = entry.holder ? holderName(model, entry.holder, 'entry-who') : null;
  const attributes = {
    class: 'entry', 'data-kind': entry.kind, 'data-key': keyOfEntry(entry), 'data-caught-up': entry.isCaughtUp,
  };
  const title = [actor?.node, actor && ' ', describeEvent(entry, !withFiles)];
  const details = [detail, detail && command ? ' ' : null, command];
  const node = entryRow(attributes, member?.node ?? actorBadge(entry), title, [repetitions, at.node],
    message ? makeElement('p', { class: 'entry-message' }, message) : null,
    detail || command ? makeElement('p', { class: 'entry-detail' }, ...details) : null,
    intent ? makeElement('p', { class: 'intent-line soft' }, 'Intent:', intent.node) : null,
    files?.node);
  // The buttons show no lock: a row about the past must not show what is locked now.
  files?.update(() => null);

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
  return makeElement('span', { class: 'badge badge-none', 'aria-hidden': 'true' }, icon(ICONS.get(kind) ?? 'map'));
}

/**
 * @param {Model} model
 * @param {Activity} entry
 * @returns {Node | string | null} A button if the entry is about a task that still exists.
 */
function messageOf(model, { task, team, kind, message }) {
  if (message === null || task === null || kind === 'task_deleted') return message;
  const onclick = () => model.go({ view: 'board', team, task });
  return makeButton({ class: 'quiet intent-button', title: 'Show the task', onclick }, message);
}
