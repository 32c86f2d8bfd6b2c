// Buttons that do something about an agent: there only for those who may.

import { mayWrite } from '../app/acts.js';
import { isBoard } from '../app/address.js';
import { make } from '../app/dom.js';
import { memberOfHolder } from '../app/members.js';
import { nameOf } from '../app/names.js';

/** @typedef {import('../app/types.js').Model} Model */

/** @param {Model} model @returns {import('../app/team_types.js').Team | null} The team whose members are known. */
export function knownTeam({ state: { place, board, work } }) {
  return isBoard(place) ? board.team : work?.team ?? null;
}

/**
 * @param {Model} model
 */
export function holderActs(model) {
  /** @type {string | null} */
  let holder = null;
  /** @type {string[]} */
  let paths = [];
  const message = make('button', { type: 'button', class: 'quiet', onclick: write }, 'Message');
  const release = make('button', { type: 'button', class: 'quiet', onclick: () => holder !== null && model.ask({ kind: 'release', holder, paths }) }, 'Release by force');
  const node = make('span', { class: 'acts' }, message, release);

  function write() {
    const team = knownTeam(model);
    const member = holder === null ? null : memberOfHolder(team, holder);
    if (team && member) model.ask({ kind: 'message', team, handle: member.handle });
  }

  return {
    node,
    /** @param {string | null} next @param {string[]} files Those of its files that may be released. */
    update(next, files) {
      holder = next;
      paths = files;
      const { caller, mayForce } = model.state;
      const team = knownTeam(model);
      const isOwn = caller !== null && next === caller.login;
      message.hidden = caller === null || next === null || isOwn || !team || memberOfHolder(team, next) === null || !mayWrite(team, caller.login);
      release.hidden = caller === null || next === null || isOwn || files.length === 0 || !mayForce;
      node.hidden = message.hidden && release.hidden;
      if (next !== null) {
        message.setAttribute('aria-label', `Message ${nameOf(model.state, next)}`);
        release.setAttribute('aria-label', `Release by force: files of ${nameOf(model.state, next)}`);
      }
    },
  };
}
