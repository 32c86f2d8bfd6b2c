// Parts that the measuring scripts share.

export const VIEWPORT = { width: 1440, height: 900 };

/** Stands in for the context of a test, which the harness needs. */
export function benchContext() {
  /** @type {(() => unknown)[]} */
  const cleanups = [];
  return {
    context: /** @type {any} */ ({ after: (/** @type {() => unknown} */ cleanup) => cleanups.push(cleanup) }),
    async cleanUp() {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    },
  };
}

/** @param {number[]} list @param {number} share */
export const quantile = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(share * list.length))];

/** @param {number} value @param {number} [digits] */
export const figure = (value, digits = 0) => value.toFixed(digits);

/** Prints a table in Markdown. @param {Record<string, unknown>[]} rows */
export function printTable(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  console.log(`| ${names.join(' | ')} |\n|${names.map(() => '---|').join('')}`);
  for (const row of rows) console.log(`| ${names.map((name) => row[name] ?? '').join(' | ')} |`);
}
