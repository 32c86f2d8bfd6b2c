// The buttons for acts on an agent. They are visible only for callers that may act.

import { mayWrite } from '../app/acts.js';
import { isBoard } from '../app/address.js';
import { make } from '../app/dom.js';
import { memberOfHolder } from '../app/teams.js';
import { nameOf } from '../app/names.js';

/** @typedef {import('../app/types.js').Model} Model */

/**
 * @param {Model} model
 * @returns {import('../app/team_types.js').Team | null} The team whose members the page has read.
 */
function teamInState({ state: { place, board, work } }) {
  return isBoard(place) ? board.team : work?.team ?? null;
}

/** @param {Model} model */
export function holderActs(model) {
  /** @type {string | null} */
  let holder = null;
  /** @type {string[]} */
  let paths = [];
  const message = make('button', { type: 'button', class: 'quiet', onclick: confirmMessage }, 'Message');
  const release = make('button', { type: 'button', class: 'quiet', onclick: confirmRelease }, 'Release by force');
  const node = make('span', { class: 'acts' }, message, release);

  function confirmMessage() {
    const team = teamInState(model);
    const member = holder === null ? null : memberOfHolder(team, holder);
    if (team && member) model.confirmAct({ kind: 'message', team, handle: member.handle });
  }

  function confirmRelease() {
    if (holder !== null) model.confirmAct({ kind: 'release', holder, paths });
  }

  return {
    node,
    /** @param {string | null} nextHolder @param {string[]} nextPaths Files of the holder that may be released. */
    update(nextHolder, nextPaths) {
      holder = nextHolder;
      paths = nextPaths;
      const { caller, mayForce } = model.state;
      const team = teamInState(model);
      const member = holder === null ? null : memberOfHolder(team, holder);
      const isOther = caller !== null && holder !== null && holder !== caller.login;
      const mayMessage = caller !== null && team !== null && member !== null && mayWrite(team, caller.login);
      message.hidden = !isOther || !mayMessage;
      release.hidden = !isOther || paths.length === 0 || !mayForce;
      node.hidden = message.hidden && release.hidden;
      if (holder === null) return;
      message.setAttribute('aria-label', `Message ${nameOf(model.state, holder)}`);
      release.setAttribute('aria-label', `Release by force: files of ${nameOf(model.state, holder)}`);
    },
  };
}
