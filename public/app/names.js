// What holders are called: by their agent, and by their login too where there are several.

/** @param {string} holder @returns {{ user: string, agentId: string | null }} */
export function holderParts(holder) {
  const cut = holder.indexOf('/');
  return cut < 0 ? { user: holder, agentId: null } : { user: holder.slice(0, cut), agentId: holder.slice(cut + 1) };
}

/**
 * @param {Pick<import('./types.js').State, 'hasSeveralLogins'>} state
 * @param {string} holder Its key.
 * @returns {{ name: string, login: string }} `login` is empty where the name says enough.
 */
export function nameParts({ hasSeveralLogins }, holder) {
  const { user, agentId } = holderParts(holder);
  return agentId === null ? { name: user, login: '' } : { name: agentId, login: hasSeveralLogins ? user : '' };
}

/** @param {Pick<import('./types.js').State, 'hasSeveralLogins'>} state @param {string} holder @returns {string} Such as `dan`, or `dan (ada)`. */
export function nameOf(state, holder) {
  const { name, login } = nameParts(state, holder);
  return login ? `${name} (${login})` : name;
}
