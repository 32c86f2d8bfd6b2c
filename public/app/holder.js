// The keys of holders, their names, and their badges.

/** Number of tokens `--holder-0` ... */
const SLOTS = 8;

/** @param {string} user @param {string | null | undefined} agentId @returns {string} `login`, or `login/agent_id`. */
export function holderKey(user, agentId) {
  return agentId ? `${user}/${agentId}` : user;
}

/**
 * @param {any} source A lock, a claim or an event, as the server sends it.
 * @returns {{ holder: string, user: string, userName: string, agentId: string | null }}
 */
export function readHolder({ user, user_name: userName, agent_id: agentId }) {
  return { holder: holderKey(user, agentId), user, userName: userName ?? user, agentId: agentId ?? null };
}

/** @param {string} holder `login`, or `login/agent_id`. @returns {{ user: string, agentId: string | null }} */
export function splitHolder(holder) {
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
  const { user, agentId } = splitHolder(holder);
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

/** @param {string} text @returns {number} FNV-1a, 32 bits. */
function hash(text) {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}

/**
 * The possible letters of a badge, the best first. They come from the agent, or from the login without an agent.
 * @param {string} key
 * @param {string | null} agentId
 * @param {string} userName
 * @returns {string[]}
 */
function lettersOf(key, agentId, userName) {
  const words = (agentId ?? (userName || key)).split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const first = [...(words[0] ?? '?')];
  const last = [...(words.at(-1) ?? '?')];
  // Agents differ in their last word: `agent-1`, `agent-12`.
  const second = words.length > 1 && /^\d+$/.test(last.join('')) ? last.slice(-2).join('') : last[0];
  const best = words.length > 1 ? first[0] + second : first.slice(0, 2).join('');
  const others = [...first.slice(2), ...last.slice(1), ...'23456789'].map((letter) => first[0] + letter);
  return [...new Set([best, ...others].map((letters) => letters.toUpperCase()))];
}

/** Badges by key of the holder. @type {Map<string, { letters: string, slot: number }>} */
const badges = new Map();
/** Beyond this number, badges may be alike. */
const MAX_BADGES = 400;

/**
 * The letters and the color of a holder, the same everywhere on the page. No two holders share letters. Holders share a
 * color only if there are more holders than colors.
 * @param {string} key Key of the holder.
 * @param {string | null} agentId
 * @param {string} userName
 * @returns {{ letters: string, slot: number }}
 */
export function badgeOf(key, agentId, userName) {
  const existing = badges.get(key);
  if (existing) return existing;
  if (badges.size >= MAX_BADGES) badges.clear();
  const usedLetters = new Set([...badges.values()].map(({ letters }) => letters));
  const uses = Array.from({ length: SLOTS }, () => 0);
  for (const { slot } of badges.values()) uses[slot] += 1;
  const choices = lettersOf(key, agentId, userName);
  const preferred = hash(key) % SLOTS;
  const slots = uses.map((_, index) => (preferred + index) % SLOTS).sort((a, b) => uses[a] - uses[b]);
  const badge = { letters: choices.find((letters) => !usedLetters.has(letters)) ?? choices[0], slot: slots[0] };
  badges.set(key, badge);
  return badge;
}
