// The open refusals by intents: the holder, the reason, and the command that the holder got.

import { keyedChildren, make, setText } from '../app/dom.js';
import { nameOf } from '../app/names.js';
import { refusalWords } from '../app/intent_words.js';
import { counted } from '../app/words.js';
import { badge, commandChip, fileButton, intentButton, modeOf, moment } from './parts.js';

/** @import { IntentRefusal, Model } from '../app/types.js' */

const FILES_SHOWN = 3;

/** @param {Model} model */
export function intentRefusals(model) {
  const title = make('h3', {});
  const list = make('ul', {});
  const node = make('div', { class: 'intent-refusals' }, title, list);
  const keyOf = (/** @type {IntentRefusal} */ { holder, at }) => `${holder} ${at}`;
  const render = keyedChildren(list, keyOf, (refusal) => refusalRow(model, refusal));
  let rows = render([]);
  return {
    node,
    /** @param {IntentRefusal[]} refusals */
    update(refusals) {
      rows = render(refusals);
      setText(title, counted(refusals.length, 'open refusal'));
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
  const time = moment();
  const owners = make('span', { class: 'refusal-owners' });
  const ownerLine = make('p', { class: 'intent-line soft' }, 'Owner:', owners);
  const renderOwners = keyedChildren(owners, (/** @type {string} */ id) => id, (id) => intentButton(model, id));
  const files = paths.slice(0, FILES_SHOWN).map((path) => ({ path, button: fileButton(model, path) }));
  const more = fileCount - files.length;
  const name = make('strong', { title: holder }, nameOf(model.state, holder));
  const node = make('li', { class: 'refusal', 'data-code': code },
    badge(holder, agentId, userName),
    make('div', { class: 'entry-text' },
      make('div', { class: 'entry-head' }, make('span', { class: 'entry-deed' }, name), time.node),
      make('p', { class: 'refusal-why' }, refusalWords(code), ' ', command ? commandChip(command) : null),
      ownerLine,
      make('div', { class: 'entry-files' },
        ...files.map(({ button }) => button.node),
        more > 0 ? make('span', { class: 'soft' }, `and ${more} more`) : null)));
  return {
    node,
    tick: (/** @type {number} */ now) => time.update(at, now),
    update() {
      const { owners: ownersByPath } = model.state.intents;
      const ids = code === 'FILE_OWNED' ? [...new Set(paths.flatMap((path) => ownersByPath.get(path) ?? []))] : [];
      renderOwners(ids);
      ownerLine.hidden = ids.length === 0;
      for (const { path, button } of files) button.update(modeOf(model.state, path));
      time.update(at, model.now());
    },
  };
}
