// The board of a team: its tasks, and the members that work on them. Functions change no argument.

import { textFilter } from './formatting.js';
import { applyToTasks, columnsOf, searchTextOf } from './tasks.js';
import { applyToTeam, isSameName } from './teams.js';

/** @typedef {import('./team_types.js').Board} Board */

/** @param {string | null} [name] @returns {Board} */
export function emptyBoard(name = null) {
  return { name, phase: 'unread', tasks: new Map(), done: 'unread', team: null, message: null };
}

/**
 * @param {Board} board
 * @param {any[]} events In their order.
 * @returns {Board} The same object if nothing changes.
 */
export function applyToBoard(board, events) {
  const teamEvents = eventsOfTeam(board.name, events);
  if (teamEvents.length === 0) return board;
  const tasks = applyToTasks(board.tasks, teamEvents);
  const team = board.team && applyToTeam(board.team, teamEvents);
  return tasks === board.tasks && team === board.team ? board : { ...board, tasks, team };
}

/** @param {string | null} name @param {any[]} events @returns {any[]} The events about the team. */
export function eventsOfTeam(name, events) {
  return name === null ? [] : events.filter(({ team }) => typeof team === 'string' && isSameName(team, name));
}

/** @param {Board} board @param {string} filter Words. */
export function filterColumns(board, filter) {
  const matches = textFilter(filter);
  return columnsOf(board.tasks, filter ? (task) => matches(searchTextOf(task)) : () => true);
}

/** @param {Board} board @param {string | null} id */
export function taskOf({ tasks }, id) {
  return id === null ? null : tasks.get(id) ?? null;
}
