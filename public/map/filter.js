import { textFilter } from '../app/words.js';

/**
 * How many files inside each node have every word of a text in their paths.
 * @param {import('./tree.js').Tree} tree
 * @param {string} text
 * @returns {Int32Array | null} None where there is nothing to filter by.
 */
export function matchesOf(tree, text) {
  if (!text.trim()) return null;
  const isMatch = textFilter(text);
  const matches = new Int32Array(tree.count);
  for (let node = tree.count - 1; node > 0; node--) {
    if (tree.file[node] >= 0) {
      matches[node] = isMatch(tree.path[node]) ? 1 : 0;
    }
    matches[tree.parent[node]] += matches[node];
  }
  return matches;
}
