// The rows of the table of files: filtered and sorted. No elements.

import { splitPath, textFilter } from '../app/formatting.js';
import { modeOf } from './elements.js';
import { sortedRows } from './window_table.js';

/** @import { FileEntry, Graph, State } from '../app/types.js' */
/** @typedef {Pick<State, 'locks' | 'neighbors' | 'blocked'>} LockState */

/**
 * @typedef {object} TableRow
 * @property {string} path
 * @property {string} folder
 * @property {string} name
 * @property {FileEntry | null} file `null` for a locked file that is not in the graph.
 * @property {number} importers
 * @property {number} imports
 */

/**
 * @typedef {'name' | 'folder' | 'size' | 'language' | 'importers' | 'imports' | 'mode' | 'holder' | 'message'
 *   | 'expiry' | 'neighbor'} Column
 */

/** @type {{ id: Column, label: string, isNumber: boolean, isDescendingFirst: boolean }[]} */
export const FILE_COLUMNS = [
  { id: 'name', label: 'File', isNumber: false, isDescendingFirst: false },
  { id: 'folder', label: 'Folder', isNumber: false, isDescendingFirst: false },
  { id: 'mode', label: 'Lock', isNumber: false, isDescendingFirst: true },
  { id: 'holder', label: 'Holder', isNumber: false, isDescendingFirst: false },
  { id: 'message', label: 'Message', isNumber: false, isDescendingFirst: false },
  { id: 'expiry', label: 'Expires in', isNumber: true, isDescendingFirst: false },
  { id: 'neighbor', label: 'Neighbor of', isNumber: false, isDescendingFirst: false },
  { id: 'size', label: 'Size', isNumber: true, isDescendingFirst: true },
  { id: 'language', label: 'Language', isNumber: false, isDescendingFirst: false },
  { id: 'importers', label: 'Importers', isNumber: true, isDescendingFirst: true },
  { id: 'imports', label: 'Imports', isNumber: true, isDescendingFirst: true },
];

/** @param {Graph | null} graph @returns {TableRow[]} Sorted by path. */
export function graphRows(graph) {
  if (!graph) return [];
  const { files, importers, imports } = graph;
  return files.map((file, index) => rowOf(file.path, file, importers[index].length, imports[index].length));
}

/**
 * @param {string} path
 * @param {FileEntry | null} file
 * @param {number} importers
 * @param {number} imports
 * @returns {TableRow}
 */
function rowOf(path, file, importers, imports) {
  const [folder, name] = splitPath(path);
  return { path, folder, name, file, importers, imports };
}

/**
 * @param {TableRow} row
 * @param {Column} column
 * @param {LockState} state
 * @returns {string | number | null} `null` without a value.
 */
export function cellValue(row, column, state) {
  const locks = state.locks.get(row.path);
  switch (column) {
    case 'name': return row.name;
    case 'folder': return row.folder || null;
    case 'size': return row.file?.size || null;
    case 'language': return row.file?.language ?? null;
    case 'importers': return row.importers;
    case 'imports': return row.imports;
    case 'mode': return modeOf(state, row.path);
    case 'holder': return locks?.map(({ holder }) => holder).join(', ') ?? null;
    case 'message': return locks?.[0].message ?? null;
    case 'expiry': return locks ? Math.min(...locks.map(({ expiry }) => expiry)) : null;
    case 'neighbor': return state.neighbors.get(row.path)?.join(', ') ?? null;
    default: throw new Error(`no column ${column}`);
  }
}

/** Modes by how much they forbid. */
const MODE_ORDER = new Map([['INFORMED', 0], ['NEIGHBOR', 1], ['READING', 2], ['WRITING', 3]]);

/**
 * @param {TableRow[]} rows Of the graph, sorted by path.
 * @param {LockState} state
 * @param {{ filter: string, onlyLocked: boolean, column: Column, isDescending: boolean }} choice
 * @returns {TableRow[]} Rows without a value are last in both directions.
 */
export function tableRows(rows, state, { filter, onlyLocked, column, isDescending }) {
  const matches = textFilter(filter);
  /** @param {TableRow} row */
  const isShown = ({ path }) => {
    const locks = state.locks.get(path);
    if (onlyLocked && !locks && !state.neighbors.has(path)) return false;
    if (!filter) return true;
    return matches([path, ...(locks ?? []).map(({ holder, message }) => `${holder} ${message}`)].join(' '));
  };
  const lockedPaths = new Set(rows.filter(({ path }) => state.locks.has(path)).map(({ path }) => path));
  const otherPaths = [...state.locks.keys()].filter((path) => !lockedPaths.has(path));
  const shownRows = [...rows, ...otherPaths.map((path) => rowOf(path, null, 0, 0))].filter(isShown);
  /** @param {TableRow} row */
  const sortValueOf = (row) => {
    const value = cellValue(row, column, state);
    return column === 'mode' && value !== null ? MODE_ORDER.get(String(value)) ?? 0 : value;
  };
  return sortedRows(shownRows, sortValueOf, isDescending, (a, b) => (a.path < b.path ? -1 : 1));
}
