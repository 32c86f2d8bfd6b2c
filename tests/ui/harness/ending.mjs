/** @type {WeakMap<import('node:test').TestContext, (() => unknown)[]>} */
const endings = new WeakMap();

/**
 * Runs something when a test ends: what was registered last comes first, so that a page closes before its server does.
 * @param {import('node:test').TestContext} t
 * @param {() => unknown} end
 */
export function atEnd(t, end) {
  const known = endings.get(t);
  if (known) {
    known.push(end);
    return;
  }
  const own = [end];
  endings.set(t, own);
  t.after(async () => {
    const failures = [];
    for (const each of own.reverse()) {
      try {
        await each();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  });
}
