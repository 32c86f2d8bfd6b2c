// Labels for the status, the refusals, the changes and the budgets of intents.

/** @type {Record<import('./types.js').IntentStatus, string>} */
export const STATUS_LABELS = {
  PENDING: 'Not begun',
  IN_PROGRESS: 'In progress',
  BLOCKED: 'Blocked',
  COMPLETED: 'Completed',
  ABANDONED: 'Abandoned',
};

/** Reasons of refusals by intents, by code. @type {Record<string, string>} */
const REFUSALS = {
  INTENT_REQUIRED: 'no intent is selected',
  INTENT_NOT_ACTIVE: 'the intent is not active',
  INTENT_BLOCKED: 'the intent is blocked',
  SCOPE_VIOLATION: 'outside of the scope of the intent',
  FILE_OWNED: 'owned by another intent',
  BUDGET_EXHAUSTED: 'the budget of the intent is spent',
  CIRCUIT_OPEN: 'the same call too often in a row',
};

/** @param {string | undefined} code @returns {string} */
export function refusalLabel(code) {
  return REFUSALS[code ?? ''] ?? 'refused by an intent';
}

/** @param {{ status: string, previous?: string }} event An `intent_changed`. @returns {string} A verb. */
export function changeVerb({ status, previous }) {
  // Without a previous status, the texts of the intent have changed. An intent that has not begun may be new.
  if (!previous) return status === 'PENDING' ? 'writes' : 'edits';
  switch (status) {
    case 'IN_PROGRESS': return previous === 'BLOCKED' ? 'unblocks' : 'begins';
    case 'COMPLETED': return 'completes';
    case 'ABANDONED': return 'abandons';
    case 'BLOCKED': return 'blocks';
    default: return 'changes';
  }
}

/** From this share on, a budget is nearly spent. */
const LOW = 0.8;

/**
 * @param {import('./types.js').Spending} spending
 * @returns {{ text: string, share: number | null, level: 'free' | 'low' | 'spent' }} `share` of the limit, 0 to 1;
 *   `null` without a limit.
 */
export function budgetLabel({ used, most }) {
  const spent = used.toLocaleString('en-US');
  if (most === null) return { text: `${spent}, no limit`, share: null, level: 'free' };
  const share = most > 0 ? Math.min(1, used / most) : 1;
  const text = `${spent} of ${most.toLocaleString('en-US')}`;
  if (used >= most) return { text: `${text}: spent`, share, level: 'spent' };
  if (share < LOW) return { text, share, level: 'free' };
  // Rounds down: 100 % would say that nothing is left.
  return { text: `${text}: ${Math.floor(share * 100)} % spent`, share, level: 'low' };
}

/** @param {import('./types.js').Intent['criteria']} criteria @returns {string} */
export function criteriaLabel(criteria) {
  const met = criteria.filter((each) => each.met).length;
  return `${met} of ${criteria.length} ${criteria.length === 1 ? 'criterion' : 'criteria'} met`;
}
