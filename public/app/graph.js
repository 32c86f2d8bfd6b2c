// Reads the compact form of the import graph.

import { nameOfPath } from './formatting.js';

/**
 * The fields of `GET /api/graph?format=compact` that the page reads.
 * @typedef {object} GraphBody
 * @property {{ id: string, language?: string, size?: number, state?: string }[]} nodes Sorted by path.
 * @property {[number, number][]} edges Importer and imported.
 * @property {string | null} version
 * @property {'ready' | 'building' | 'stale'} state
 * @property {number | null} generated_at
 * @property {{ files: number, wanted: number, scanned: number }} [progress]
 * @property {string} [failure]
 * @property {Policy} [policy]
 * @property {Bound[]} [bounds]
 */

/**
 * A bound that the build has reached. The graph lacks imports of these files.
 * @typedef {object} Bound
 * @property {string} bound
 * @property {number} files
 * @property {string[]} first
 */

/**
 * The rules of locking on the branch.
 * @typedef {object} Policy
 * @property {number} ttl_seconds
 * @property {'block' | 'interface' | 'warn' | 'off'} neighbors
 * @property {string[]} [shared]
 * @property {string[]} [ignore]
 * @property {string} [problem] Why the rules file of the head is invalid.
 */

/** @param {GraphBody} body @returns {import('./types.js').Graph | null} `null` while there is no graph yet. */
export function readGraph(body) {
  if (body.version === null) return null;
  const files = body.nodes.map(({ id, language, size, state }) => ({
    path: id,
    name: nameOfPath(id),
    size: size ?? 0,
    language: language ?? null,
    state: state ?? null,
  }));
  /** @type {number[][]} */
  const imports = files.map(() => []);
  /** @type {number[][]} */
  const importers = files.map(() => []);
  for (const [importer, imported] of body.edges) {
    imports[importer].push(imported);
    importers[imported].push(importer);
  }
  return {
    version: body.version,
    files,
    indexOf: new Map(files.map((file, index) => [file.path, index])),
    imports,
    importers,
    edgeCount: body.edges.length,
    bounds: body.bounds ?? [],
  };
}
