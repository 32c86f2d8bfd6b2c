// The buttons for actions on an agent. They are visible only for callers that may take them.

import { isBoard } from '../app/address.js';
import { makeButton, makeElement } from '../app/dom.js';
import { nameOf } from '../app/holder.js';
import { memberOfHolder } from '../app/teams.js';
import { maySendMessage } from '../app/user_actions.js';

/** @typedef {import('../app/types.js').Model} Model */

/**
 * @param {Model} model
 * @returns {import('../app/team_types.js').Team | null} The team whose members the page has read.
 */
function teamInView({ state: { place, board, work } }) {
  return isBoard(place) ? board.team : work?.team ?? null;
}

/** @param {Model} model */
export function holderActions(model) {
  /** @type {string | null} */
  let holder = null;
  /** @type {string[]} */
  let paths = [];
  const message = makeButton({ class: 'quiet', onclick: confirmMessage }, 'Message');
  const release = makeButton({ class: 'quiet', onclick: confirmRelease }, 'Release by force');
  const node = makeElement('span', { class: 'actions' }, message, release);

  function confirmMessage() {
    const team = teamInView(model);
    const member = holder === null ? null : memberOfHolder(team, holder);
    if (team && member) model.confirmAction({ kind: 'message', team, handle: member.handle });
  }

  function confirmRelease() {
    if (holder !== null) model.confirmAction({ kind: 'release', holder, paths });
  }

  return {
    node,
    /** @param {string | null} nextHolder @param {string[]} nextPaths Files of the holder that may be released. */
    update(nextHolder, nextPaths) {
      holder = nextHolder;
      paths = nextPaths;
      const { caller, mayForce } = model.state;
      const team = teamInView(model);
      const member = holder === null ? null : memberOfHolder(team, holder);
      const isOther = caller !== null && holder !== null && holder !== caller.login;
      const mayMessage = caller !== null && team !== null && member !== null && maySendMessage(team, caller.login);
      message.hidden = !isOther || !mayMessage;
      release.hidden = !isOther || paths.length === 0 || !mayForce;
      node.hidden = message.hidden && release.hidden;
      if (holder === null) return;
      message.setAttribute('aria-label', `Message ${nameOf(model.state, holder)}`);
      release.setAttribute('aria-label', `Release by force: files of ${nameOf(model.state, holder)}`);
    },
  };
}
