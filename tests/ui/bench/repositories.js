// Repositories to measure with: the same numbers give the same files, sizes, imports and locks. Runs in the browser and in Node.

/** @typedef {import('../../../public/app/types.js').Graph} Graph */

const AREAS = ['api', 'cli', 'core', 'docs', 'server', 'storage', 'tests', 'tools', 'web', 'worker'];
const TOPICS = ['auth', 'billing', 'cache', 'config', 'events', 'graph', 'http', 'index', 'layout', 'locks', 'metrics', 'parser', 'queue', 'render', 'search', 'session', 'sync', 'users'];
const ROLES = ['client', 'errors', 'handler', 'helpers_for_requests', 'index', 'model', 'reader', 'routes', 'schema', 'state', 'store', 'types', 'view', 'writer_of_records'];
const LANGUAGES = [['rs', 'rust'], ['ts', 'typescript'], ['py', 'python'], ['js', 'javascript'], ['go', 'go'], ['md', null], ['json', null]];

/** @param {number} seed @returns {() => number} Numbers from 0 to 1 (mulberry32). */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * @param {number} count Number of files.
 * @returns {Graph}
 */
export function repositoryOf(count) {
  const random = randomFrom(1);
  const pick = (/** @type {any[]} */ list) => list[Math.floor(random() ** 1.4 * list.length)];
  const paths = new Set(['README.md', 'LICENSE', 'package.json', 'package-lock.json']);
  while (paths.size < count) {
    const depth = 1 + Math.floor(random() * Math.log10(count) * 1.2);
    const folders = [pick(AREAS)];
    for (let level = 1; level < depth; level++) folders.push(pick(level % 2 ? ['src', 'lib', ...TOPICS] : TOPICS));
    const [extension] = pick(LANGUAGES);
    const number = count > 500 && random() < 0.6 ? `_${Math.floor(random() * count / 40)}` : '';
    paths.add(`${folders.join('/')}/${pick(TOPICS)}_${pick(ROLES)}${number}.${extension}`);
  }
  const languages = new Map(LANGUAGES.map(([extension, language]) => [extension, language]));
  const sizes = [...paths].map(() => Math.round(Math.exp(6 + 2.6 * random() + 1.5 * random() ** 6)));
  const files = [...paths].map((path, index) => ({ path, size: path === 'package-lock.json' ? 1_200_000 : sizes[index] }));
  return graphOf(files.map((file) => ({ ...file, language: languages.get(file.path.split('.').pop() ?? '') ?? null })), random);
}

/**
 * A graph with plausible imports: mostly of files nearby, sometimes of a few that everything imports.
 * @param {{ path: string, size: number, language: string | null }[]} list
 * @param {() => number} random
 * @returns {Graph}
 */
function graphOf(list, random) {
  const files = list
    .map((file) => ({ ...file, name: file.path.slice(file.path.lastIndexOf('/') + 1), state: null }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  /** @type {number[][]} */
  const imports = files.map(() => []);
  /** @type {number[][]} */
  const importers = files.map(() => []);
  let edgeCount = 0;
  files.forEach(({ language }, importer) => {
    if (!language) return;
    const wanted = Math.floor(random() * 8);
    for (let edge = 0; edge < wanted; edge++) {
      const near = importer + Math.round((random() - 0.5) * 60);
      const imported = random() < 0.25 ? Math.floor(random() ** 6 * files.length) : Math.min(files.length - 1, Math.max(0, near));
      if (imported === importer || !files[imported].language || imports[importer].includes(imported)) continue;
      imports[importer].push(imported);
      importers[imported].push(importer);
      edgeCount += 1;
    }
  });
  const indexOf = new Map(files.map(({ path }, index) => [path, index]));
  return { version: 'f'.repeat(40), files, indexOf, imports, importers, edgeCount, bounds: [] };
}

/**
 * Locks of some holders on files of a graph.
 * @param {Graph} graph
 * @param {number} count
 * @param {number} now
 * @param {number} [seed]
 */
export function locksOf(graph, count, now, seed = 2) {
  const random = randomFrom(seed);
  const holders = [['ada', 'Ada Lovelace', 'claude-1'], ['ada', 'Ada Lovelace', 'codex-2'], ['grace', 'Grace Hopper', null], ['linus', 'Linus', 'cursor']];
  /** @type {Map<string, import('../../../public/app/types.js').Lock[]>} */
  const locks = new Map();
  const code = graph.files.filter(({ language }) => language);
  const from = code.length > 0 ? code : graph.files;
  while (locks.size < Math.min(count, from.length)) {
    const { path } = from[Math.floor(random() * from.length)];
    const mode = random() < 0.6 ? 'WRITING' : 'READING';
    const first = Math.floor(random() * holders.length);
    const chosen = mode === 'READING' && random() < 0.5 ? [first, (first + 1) % holders.length] : [first];
    locks.set(path, chosen.map((index) => {
      const [user, userName, agentId] = /** @type {[string, string, string | null]} */ (holders[index]);
      const holder = agentId ? `${user}/${agentId}` : user;
      return { path, holder, user, userName, agentId, mode, message: 'Move the parser to its own module', since: now - 60_000, expiry: now + 240_000 };
    }));
  }
  return locks;
}
