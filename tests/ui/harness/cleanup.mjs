/** @type {WeakMap<import('node:test').TestContext, (() => unknown)[]>} */
const cleanupsByTest = new WeakMap();

/**
 * Registers a cleanup for the end of a test. The last one runs first, so that a page closes before its server stops.
 * @param {import('node:test').TestContext} t
 * @param {() => unknown} cleanup
 */
export function addCleanup(t, cleanup) {
  const registered = cleanupsByTest.get(t);
  if (registered) {
    registered.push(cleanup);
    return;
  }
  const cleanups = [cleanup];
  cleanupsByTest.set(t, cleanups);
  t.after(async () => {
    const failures = [];
    for (const each of cleanups.reverse()) {
      try {
        await each();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  });
}
