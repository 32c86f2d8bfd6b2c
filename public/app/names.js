// The names of holders: the agent, and the login too if there are several logins.

/** @param {string} holder `login`, or `login/agent_id`. @returns {{ user: string, agentId: string | null }} */
export function holderParts(holder) {
  const slash = holder.indexOf('/');
  if (slash < 0) return { user: holder, agentId: null };
  return { user: holder.slice(0, slash), agentId: holder.slice(slash + 1) };
}

/**
 * @param {Pick<import('./types.js').State, 'hasSeveralLogins'>} state
 * @param {string} holder Its key.
 * @returns {{ name: string, login: string }} `login` is empty if the name alone is unambiguous.
 */
export function nameParts({ hasSeveralLogins }, holder) {
  const { user, agentId } = holderParts(holder);
  return agentId === null ? { name: user, login: '' } : { name: agentId, login: hasSeveralLogins ? user : '' };
}

/**
 * @param {Pick<import('./types.js').State, 'hasSeveralLogins'>} state
 * @param {string} holder
 * @returns {string} Such as `dan`, or `dan (ada)`.
 */
export function nameOf(state, holder) {
  const { name, login } = nameParts(state, holder);
  return login ? `${name} (${login})` : name;
}
