// Which files, folders, holders and tasks a search means, the likeliest first. Fast enough for each key over 20,000 paths.

/** Less than the steps between kinds of matches, more than lengths make. */
const PREFERENCE = 2;

/**
 * @typedef {object} SearchIndex
 * @property {string[]} paths
 * @property {string[]} lower Of each path.
 * @property {string[]} folders With their last slash, sorted.
 * @property {string[]} lowerFolders
 */

/** @param {string[]} paths Sorted. @returns {SearchIndex} */
export function searchIndex(paths) {
  /** @type {Set<string>} */
  const folders = new Set();
  for (const path of paths) {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = path.slice(0, slash + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  const sorted = [...folders].sort();
  return { paths, lower: paths.map((path) => path.toLowerCase()), folders: sorted, lowerFolders: sorted.map((folder) => folder.toLowerCase()) };
}

/**
 * How well a path matches one term. An exact name is best, then the begin of a name, the begin of a word, any place in the name, any
 * place in the path, and at last the letters in their order.
 * @param {string} lower The path in lower case.
 * @param {string} term In lower case.
 * @returns {number} 0 if it does not match.
 */
export function scoreOf(lower, term) {
  const end = lower.endsWith('/') ? lower.length - 1 : lower.length;
  const nameStart = lower.lastIndexOf('/', end - 1) + 1;
  const inName = lower.indexOf(term, nameStart);
  const length = Math.min(lower.length, 300) / 1000;
  if (inName >= 0) {
    if (inName === nameStart) {
      const rest = lower.slice(nameStart + term.length, end);
      return (rest === '' ? 100 : rest[0] === '.' ? 95 : 80) - length;
    }
    return (isWordStart(lower, inName) ? 70 : 60) - length;
  }
  const inPath = lower.indexOf(term);
  if (inPath >= 0) return (isWordStart(lower, inPath) ? 50 : 40) - length;
  return subsequenceScore(lower, term, nameStart);
}

/** @param {string} text @param {number} index */
function isWordStart(text, index) {
  if (index === 0) return true;
  const before = text.charCodeAt(index - 1);
  return before === 47 || before === 45 || before === 46 || before === 95;
}

/**
 * The letters of the term in their order, looked for from the end, so that the name counts before the folders.
 * @param {string} text @param {string} term @param {number} nameStart
 */
function subsequenceScore(text, term, nameStart) {
  if (term.length < 2) return 0;
  let place = text.length;
  let bonus = 0;
  let previous = -1;
  for (let letter = term.length - 1; letter >= 0; letter--) {
    place = text.lastIndexOf(term[letter], place - 1);
    if (place < 0 || (place === 0 && letter > 0)) return 0;
    if (previous === place + 1) bonus += 1;
    if (isWordStart(text, place)) bonus += 2;
    if (place >= nameStart) bonus += 0.5;
    previous = place;
  }
  // Scattered letters match nearly everything: most of them must be together or begin words.
  if (bonus <= term.length) return 0;
  const spread = text.lastIndexOf(term[term.length - 1]) - place + 1 - term.length;
  return 10 + Math.min(15, (bonus / term.length) * 5) - Math.min(9, spread / 4) - Math.min(text.length, 300) / 1000;
}

/**
 * The best matches of a query of one or more terms; all of them must match.
 * @param {string[]} lower Texts in lower case.
 * @param {string} query
 * @param {number} most
 * @param {(index: number) => boolean} [isPreferred] Among equals, these come first.
 * @returns {number[]} Indices, the best first; what is as good stays in its order.
 */
export function bestMatches(lower, query, most, isPreferred = () => false) {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (terms.length === 0) return [];
  /** @type {{ index: number, score: number }[]} */
  const best = [];
  for (let index = 0; index < lower.length; index++) {
    let score = 0;
    for (const term of terms) {
      const one = scoreOf(lower[index], term);
      if (one === 0) {
        score = 0;
        break;
      }
      score += one;
    }
    if (score === 0) continue;
    if (isPreferred(index)) score += PREFERENCE;
    if (best.length === most && score <= best[most - 1].score) continue;
    let place = best.length;
    while (place > 0 && best[place - 1].score < score) place -= 1;
    best.splice(place, 0, { index, score });
    if (best.length > most) best.pop();
  }
  return best.map(({ index }) => index);
}

const MOST_TASKS = 8;

/**
 * @typedef {{ type: 'task' | 'file' | 'folder' | 'holder', value: string }} Match
 * @param {SearchIndex} index
 * @param {string[]} holders
 * @param {string} query
 * @param {{ has: (path: string) => boolean }} [locked] Paths that come first among equals.
 * @returns {Match[]} Files, folders, holders.
 */
export function search(index, holders, query, locked = new Set()) {
  /** @param {Match['type']} type @param {string[]} values @param {string[]} lower @param {number} most @returns {Match[]} */
  const take = (type, values, lower, most) => bestMatches(lower, query, most, (each) => locked.has(values[each])).map((each) => ({ type, value: values[each] }));
  return [
    ...take('file', index.paths, index.lower, 8),
    ...take('folder', index.folders, index.lowerFolders, 3),
    ...take('holder', holders, holders.map((holder) => holder.toLowerCase()), 3),
  ];
}

/**
 * @param {Map<string, { id: string, title: string }>} tasks
 * @param {string} query
 * @returns {Match[]} Tasks by their ids and titles.
 */
export function searchTasks(tasks, query) {
  const all = [...tasks.values()];
  // A title is a name as a whole, whatever slashes it has.
  return bestMatches(all.map(({ id, title }) => `${id} ${title}`.replaceAll('/', ' ').toLowerCase()), query, MOST_TASKS).map((place) => ({ type: 'task', value: all[place].id }));
}
