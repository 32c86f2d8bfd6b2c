// Ranks the files, folders, holders and tasks that match a search, fast enough to run at each key over 20,000 paths.

/** Added to the score of a preferred match: less than the steps between kinds of matches, more than lengths add. */
const PREFERENCE = 2;
/** Characters beyond this length do not lower the score of a path. */
const MAX_LENGTH = 300;

/**
 * @typedef {object} SearchIndex
 * @property {string[]} paths
 * @property {string[]} lowerPaths
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
  return { paths, lowerPaths: paths.map(toLower), folders: sorted, lowerFolders: sorted.map(toLower) };
}

/** @param {string} text */
function toLower(text) {
  return text.toLowerCase();
}

/**
 * How well a path matches one term. From the best to the worst: an exact name, the start of a name, the start of a
 * word, any part of a name, any part of the path, and the letters in their order.
 * @param {string} lower The path in lower case.
 * @param {string} term In lower case.
 * @returns {number} 0 if it does not match.
 */
export function scoreOf(lower, term) {
  const end = lower.endsWith('/') ? lower.length - 1 : lower.length;
  const nameStart = lower.lastIndexOf('/', end - 1) + 1;
  const inName = lower.indexOf(term, nameStart);
  const penalty = lengthPenalty(lower);
  if (inName === nameStart) {
    const rest = lower.slice(nameStart + term.length, end);
    return (rest === '' ? 100 : rest[0] === '.' ? 95 : 80) - penalty;
  }
  if (inName >= 0) return (isWordStart(lower, inName) ? 70 : 60) - penalty;
  const inPath = lower.indexOf(term);
  if (inPath >= 0) return (isWordStart(lower, inPath) ? 50 : 40) - penalty;
  return subsequenceScore(lower, term, nameStart);
}

/** @param {string} text */
function lengthPenalty(text) {
  return Math.min(text.length, MAX_LENGTH) / 1000;
}

/** @param {string} text @param {number} index */
function isWordStart(text, index) {
  return index === 0 || '/-._'.includes(text[index - 1]);
}

/**
 * The score of the letters of the term in their order. It searches from the end, so that the name counts before the
 * folders.
 * @param {string} text @param {string} term @param {number} nameStart
 */
function subsequenceScore(text, term, nameStart) {
  if (term.length < 2) return 0;
  let position = text.length;
  let bonus = 0;
  let previous = -1;
  for (let letter = term.length - 1; letter >= 0; letter--) {
    position = text.lastIndexOf(term[letter], position - 1);
    if (position < 0 || (position === 0 && letter > 0)) return 0;
    if (previous === position + 1) bonus += 1;
    if (isWordStart(text, position)) bonus += 2;
    if (position >= nameStart) bonus += 0.5;
    previous = position;
  }
  // Scattered letters match nearly everything: most of them must be together or begin words.
  if (bonus <= term.length) return 0;
  const gaps = text.lastIndexOf(term[term.length - 1]) - position + 1 - term.length;
  return 10 + Math.min(15, (bonus / term.length) * 5) - Math.min(9, gaps / 4) - lengthPenalty(text);
}

/**
 * The best matches of a query of one or more terms, all of which must match.
 * @param {string[]} lower Texts in lower case.
 * @param {string} query
 * @param {number} maxCount
 * @param {(index: number) => boolean} [isPreferred] Whether a text comes first among equals.
 * @returns {number[]} Indices, the best first. Equal matches stay in their order.
 */
export function bestMatches(lower, query, maxCount, isPreferred = () => false) {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (terms.length === 0) return [];
  /** @type {{ index: number, score: number }[]} */
  const best = [];
  for (let index = 0; index < lower.length; index++) {
    let score = totalScore(lower[index], terms);
    if (score === 0) continue;
    if (isPreferred(index)) score += PREFERENCE;
    if (best.length === maxCount && score <= best[maxCount - 1].score) continue;
    let rank = best.length;
    while (rank > 0 && best[rank - 1].score < score) rank -= 1;
    best.splice(rank, 0, { index, score });
    if (best.length > maxCount) best.pop();
  }
  return best.map(({ index }) => index);
}

/** @param {string} lower @param {string[]} terms @returns {number} 0 if a term does not match. */
function totalScore(lower, terms) {
  let total = 0;
  for (const term of terms) {
    const score = scoreOf(lower, term);
    if (score === 0) return 0;
    total += score;
  }
  return total;
}

const MAX_MATCHES = { task: 8, file: 8, folder: 3, holder: 3 };

/**
 * @typedef {{ type: keyof typeof MAX_MATCHES, value: string }} Match
 * @param {SearchIndex} index
 * @param {string[]} holders
 * @param {string} query
 * @param {{ has: (path: string) => boolean }} [locked] Paths that come first among equals.
 * @returns {Match[]} Files, folders, holders.
 */
export function search(index, holders, query, locked = new Set()) {
  /** @param {Match['type']} type @param {string[]} values @param {string[]} lower @returns {Match[]} */
  const matchesOf = (type, values, lower) =>
    bestMatches(lower, query, MAX_MATCHES[type], (each) => locked.has(values[each]))
      .map((each) => ({ type, value: values[each] }));
  return [
    ...matchesOf('file', index.paths, index.lowerPaths),
    ...matchesOf('folder', index.folders, index.lowerFolders),
    ...matchesOf('holder', holders, holders.map(toLower)),
  ];
}

/**
 * @param {Map<string, { id: string, title: string }>} tasks
 * @param {string} query
 * @returns {Match[]} Tasks by their ids and titles.
 */
export function searchTasks(tasks, query) {
  const list = [...tasks.values()];
  // Without slashes: the score must not treat a part of a title as a folder.
  const lower = list.map(({ id, title }) => `${id} ${title}`.replaceAll('/', ' ').toLowerCase());
  return bestMatches(lower, query, MAX_MATCHES.task).map((index) => ({ type: 'task', value: list[index].id }));
}
