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

/** @param {string} text */
const words = (text) => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/**
 * What the badge of a holder may say, the best first: of its agent, or of its login where it has none.
 * @param {string} key
 * @param {string | null} agentId
 * @param {string} userName
 * @returns {string[]}
 */
export function lettersOf(key, agentId, userName) {
  const parts = words(agentId ?? (userName || key));
  const last = parts.at(-1) ?? '?';
  const first = [...(parts[0] ?? '?')];
  // Agents are told apart by their last word: `agent-1`, `agent-12`.
  const number = parts.length > 1 && /^\d+$/.test(last) ? last.slice(-2) : [...last][0];
  const best = parts.length > 1 ? first[0] + number : first.slice(0, 2).join('');
  const others = [...first.slice(2).map((letter) => first[0] + letter), ...[...last].slice(1).map((letter) => first[0] + letter), ...'23456789'].map((each) => (each.length > 1 ? each : first[0] + each));
  return [...new Set([best, ...others].map((each) => each.toUpperCase()))];
}

/** Badges that were given, by key of the holder. @type {Map<string, { letters: string, slot: number }>} */
const given = new Map();
/** From so many on, badges may be alike. */
const MOST_GIVEN = 400;

/**
 * The letters and the color by which a holder is known at a glance, the same everywhere on the page: no two have the same letters, and colors are alike only
 * where there are more holders than colors.
 * @param {string} key Key of the holder.
 * @param {string | null} agentId
 * @param {string} userName
 * @returns {{ letters: string, slot: number }}
 */
export function badgeOf(key, agentId, userName) {
  const known = given.get(key);
  if (known) return known;
  if (given.size >= MOST_GIVEN) given.clear();
  const taken = new Set([...given.values()].map(({ letters }) => letters));
  const uses = Array.from({ length: SLOTS }, () => 0);
  for (const { slot } of given.values()) uses[slot] += 1;
  const choices = lettersOf(key, agentId, userName);
  const usual = hash(key) % SLOTS;
  const slots = uses.map((_, index) => (usual + index) % SLOTS).sort((one, other) => uses[one] - uses[other]);
  const badge = { letters: choices.find((letters) => !taken.has(letters)) ?? choices[0], slot: slots[0] };
  given.set(key, badge);
  return badge;
}
