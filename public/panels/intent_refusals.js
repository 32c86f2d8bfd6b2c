// The open refusals by intents: the holder, the reason, and the command that the holder got.

import { keyedChildren, makeElement, setText } from '../app/dom.js';
import { formatCount } from '../app/formatting.js';
import { nameOf } from '../app/holder.js';
import { refusalLabel } from '../app/intent_labels.js';
import { badge, commandChip, entryRow, fileButtons, intentButton, modeOf, timeLabel } from './elements.js';

/** @import { IntentRefusal, Model } from '../app/types.js' */

/** @param {Model} model */
export function intentRefusals(model) {
  const title = makeElement('h3');
  const list = makeElement('ul');
  const node = makeElement('div', { class: 'intent-refusals' }, title, list);
  const keyOf = (/** @type {IntentRefusal} */ { holder, at }) => `${holder} ${at}`;
  const render = keyedChildren(list, keyOf, (refusal) => refusalRow(model, refusal));
  let rows = render([]);
  return {
    node,
    /** @param {IntentRefusal[]} refusals */
    update(refusals) {
      rows = render(refusals);
      setText(title, formatCount(refusals.length, 'open refusal'));
      node.hidden = refusals.length === 0;
    },
    /** @param {number} now */
    tick(now) {
      for (const row of rows.values()) row.tick(now);
    },
  };
}

/** @param {Model} model @param {IntentRefusal} refusal Never changes. */
function refusalRow(model, { holder, agentId, userName, code, paths, fileCount, command, at }) {
  const time = timeLabel();
  const owners = makeElement('span', { class: 'refusal-owners' });
  const ownerLine = makeElement('p', { class: 'intent-line soft' }, 'Owner:', owners);
  const renderOwners = keyedChildren(owners, (/** @type {string} */ id) => id, (id) => intentButton(model, id));
  const files = fileButtons(model, paths, fileCount);
  const name = makeElement('strong', { title: holder }, nameOf(model.state, holder));
  const attributes = { class: 'refusal', 'data-code': code };
  const node = entryRow(attributes, badge(holder, agentId, userName), [name], [time.node],
    makeElement('p', { class: 'refusal-why' }, refusalLabel(code), ' ', command ? commandChip(command) : null),
    ownerLine,
    files.node);
  return {
    node,
    tick: (/** @type {number} */ now) => time.update(at, now),
    update() {
      const { owners: ownersByPath } = model.state.intents;
      const ids = code === 'FILE_OWNED' ? [...new Set(paths.flatMap((path) => ownersByPath.get(path) ?? []))] : [];
      renderOwners(ids);
      ownerLine.hidden = ids.length === 0;
      files.update((path) => modeOf(model.state, path));
      time.update(at, model.now());
    },
  };
}
