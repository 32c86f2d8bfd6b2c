// One entry of the feed, or of the history of a file.

import { keyOfEntry, deedOf } from './feed.js';
import { icon, make, setText } from '../app/dom.js';
import { holderName } from './holder_name.js';
import { intentButton } from './intent_button.js';
import { badge, commandChip, fileButton, memberBadge, moment } from './parts.js';

/** @typedef {import('../app/types.js').Activity} Activity */
/** @typedef {import('../app/types.js').Model} Model */

const PATHS_SHOWN = 3;
const ICONS = new Map([['head_moved', 'branch'], ['lock_refused', 'warning'], ['lock_expired', 'clock'], ['lock_released', 'lock']]);

/**
 * @param {Model} model
 * @param {Activity} entry Never changes.
 * @param {{ withFiles: boolean }} options
 */
export function activityRow(model, entry, { withFiles }) {
  const at = moment();
  const times = make('span', { class: 'entry-count' });
  const paths = withFiles ? entry.paths.slice(0, PATHS_SHOWN) : [];
  // A claim says its mode, and that it was granted, in its first line.
  const isSaid = entry.kind === 'lock_granted' || entry.kind === 'lock_renewed' || entry.kind === 'intent_changed' || entry.isOfTeam;
  const detail = isSaid ? null : entry.detail;
  const command = entry.command === 'PROCEED' ? null : entry.command;
  const intent = entry.intentId ? intentButton(model, entry.intentId) : null;
  const { task, team } = entry;
  const openTask = () => model.go({ view: 'board', team, task });
  const isLinked = task !== null && entry.message !== null && entry.kind !== 'task_deleted';
  const said = isLinked ? make('button', { type: 'button', class: 'quiet intent-button', title: 'Show the task', onclick: openTask }, entry.message) : entry.message;
  const buttons = paths.map((path) => fileButton(model, path));
  const more = withFiles ? entry.fileCount - paths.length : 0;
  // Events of teams name a member by its handle.
  const member = entry.isOfTeam && entry.holder ? memberBadge(model) : null;
  const who = entry.holder ? holderName(model, entry.holder, 'entry-who') : null;
  const node = make('li', { class: 'entry', 'data-kind': entry.kind, 'data-key': keyOfEntry(entry), 'data-caught-up': entry.isCaughtUp },
    member?.node ?? (entry.holder
      ? badge(entry.holder, entry.agentId, entry.userName)
      : make('span', { class: 'badge badge-none', 'aria-hidden': 'true' }, icon(ICONS.get(entry.kind) ?? 'map'))),
    make('div', { class: 'entry-text' },
      make('div', { class: 'entry-head' },
        make('span', { class: 'entry-deed' }, who?.node, who && ' ', deedOf(entry, !withFiles)),
        times, at.node),
      said ? make('p', { class: 'entry-message' }, said) : null,
      detail || command
        ? make('p', { class: 'entry-detail' }, detail, detail && command ? ' ' : null, command ? commandChip(command) : null)
        : null,
      intent ? make('p', { class: 'intent-line soft' }, 'Intent:', intent.node) : null,
      buttons.length > 0
        ? make('p', { class: 'entry-files' }, ...buttons.map(({ node: button }) => button), more > 0 ? make('span', { class: 'soft' }, `and ${more} more`) : null)
        : null));
  // Without marks: a mark would say what is locked now, in a row about then.
  for (const button of buttons) button.update(null);

  return {
    node,
    /** @param {{ count: number, isAbsolute: boolean }} shown */
    update({ count, isAbsolute }) {
      if (entry.holder) member?.update(entry.holder);
      setText(times, count > 1 ? `\u00d7${count}` : '');
      times.title = count > 1 ? `${count} times` : '';
      intent?.update();
      who?.update();
      at.update(entry.at, model.now(), isAbsolute);
    },
  };
}
