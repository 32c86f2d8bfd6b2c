// The board of a team: its tasks, and who works on them. Nothing here changes what it is given.

import { applyToTasks, columnsOf, textOf } from './tasks.js';
import { applyToTeam, isSameName } from './teams.js';
import { textFilter } from './words.js';

/** @typedef {import('./team_types.js').Board} Board */

/** @param {string | null} [name] @returns {Board} That of a team of which nothing was read. */
export function unreadBoard(name = null) {
  return { name, phase: 'unread', tasks: new Map(), done: 'unread', team: null, message: null };
}

/**
 * @param {Board} board
 * @param {any[]} events In their order.
 * @returns {Board} The same object if nothing changes.
 */
export function applyToBoard(board, events) {
  const own = ofTeam(board.name, events);
  if (own.length === 0) return board;
  const tasks = applyToTasks(board.tasks, own);
  const team = board.team && applyToTeam(board.team, own);
  return tasks === board.tasks && team === board.team ? board : { ...board, tasks, team };
}

/** @param {string | null} name @param {any[]} events */
export function ofTeam(name, events) {
  return name === null ? [] : events.filter(({ team }) => typeof team === 'string' && isSameName(team, name));
}

/** @param {Board} board @param {string} filter Words. */
export function filteredColumns(board, filter) {
  const matches = textFilter(filter);
  return columnsOf(board.tasks, filter ? (task) => matches(textOf(task)) : () => true);
}

/** @param {Board} board @param {string | null} id */
export function taskOf({ tasks }, id) {
  return id === null ? null : tasks.get(id) ?? null;
}
