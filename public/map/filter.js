import { textFilter } from '../app/formatting.js';

/**
 * How many files inside each node have every word of a text in their paths.
 * @param {import('./tree.js').Tree} tree
 * @param {string} text
 * @returns {Int32Array | null} Null if the text is blank.
 */
export function countMatches(tree, text) {
  if (!text.trim()) return null;
  const isMatch = textFilter(text);
  const matches = new Int32Array(tree.count);
  for (let node = tree.count - 1; node > 0; node--) {
    if (tree.file[node] >= 0 && isMatch(tree.path[node])) matches[node] = 1;
    matches[tree.parent[node]] += matches[node];
  }
  return matches;
}
