/** Number of tokens `--holder-0` ... */
const SLOTS = 8;

/**
 * @param {string} user
 * @param {string | null | undefined} agentId
 * @returns {string} `login`, or `login/agent_id`.
 */
export function holderKey(user, agentId) {
  return agentId ? `${user}/${agentId}` : user;
}

/**
 * @param {string} text
 * @returns {number} FNV-1a, 32 bits.
 */
function hash(text) {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}

/**
 * The letters and the color by which a holder is known at a glance: the same on each page and each day.
 * @param {string} key Key of the holder.
 * @param {string | null} agentId
 * @param {string} userName
 * @returns {{ letters: string, slot: number }}
 */
export function badgeOf(key, agentId, userName) {
  const words = (/** @type {string} */ text) => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const first = (/** @type {string | undefined} */ word) => [...(word ?? '?')][0];
  const names = words(userName || key);
  // Agents are told apart by their last word: `agent-1`, `agent-2`.
  const own = agentId ? words(agentId).at(-1) : undefined;
  const letters = own ? first(names[0]) + first(own) : names.length > 1 ? first(names[0]) + first(names.at(-1)) : [...(names[0] ?? '?')].slice(0, 2).join('');
  return { letters: letters.toUpperCase(), slot: hash(key) % SLOTS };
}
