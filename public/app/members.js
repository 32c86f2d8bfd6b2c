// Members of a team, and the holders of locks that they are.

import { holderKey } from './holder.js';

/** @param {import('./team_types.js').Team | null} team @param {string} holder @returns {import('./team_types.js').Member | null} */
export function memberOfHolder(team, holder) {
  return team?.members.find(({ login, agent }) => holderKey(login, agent) === holder) ?? null;
}
