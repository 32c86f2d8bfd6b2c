// Small pieces that several panels are made of.

import { badgeOf, holderKey } from '../app/holder.js';
import { memberOf } from '../app/teams.js';
import { ago, clock, countdown } from '../app/time.js';
import { icon, make, setAttribute, setIcon, setText } from '../app/dom.js';
import { COMMAND_MEANINGS, shareLeft, splitPath } from './words.js';

/** @typedef {import('../app/types.js').Model} Model */

const MODE_ICONS = { WRITING: 'pencil', READING: 'eye', NEIGHBOR: 'link', INFORMED: 'link' };

/** @typedef {keyof typeof MODE_ICONS} Mode */

/**
 * The badge of a holder: its letters on its color.
 * @param {string} holder
 * @param {string | null} agentId
 * @param {string | null} userName
 */
export function badge(holder, agentId, userName) {
  const { letters, slot } = badgeOf(holder, agentId, userName ?? holder);
  return make('span', { class: `badge badge-${slot}`, 'aria-hidden': 'true', title: holder }, letters);
}

/**
 * The badge of a member of the team on the screen: that of its holder, by which it is known on the map.
 * @param {Model} model
 */
export function memberBadge(model) {
  const node = make('span', { 'aria-hidden': 'true' });
  return {
    node,
    /** @param {string} handle */
    update(handle) {
      const member = memberOf(model.state.board.team, handle);
      // Before the team is read, an agent with the id of the handle is most likely the member.
      const known = member ? null : model.state.agents.find(({ agentId }) => agentId === handle);
      const { agent, login } = member ?? { agent: known?.agentId ?? null, login: handle };
      const holder = known?.holder ?? holderKey(login, agent);
      const { letters, slot } = badgeOf(holder, agent, login);
      setAttribute(node, 'class', `badge badge-${slot}`);
      setAttribute(node, 'title', holder);
      setText(node, letters);
    },
  };
}

/** A path whose folder is cut before its name is. @param {string} path @returns {HTMLElement} */
export function pathText(path) {
  const [folder, name] = splitPath(path);
  return make('span', { class: 'path' },
    folder ? make('span', { class: 'path-folder' }, folder.slice(0, -1)) : null, make('span', { class: 'path-name' }, folder ? `/${name}` : name));
}

/**
 * A button that selects a file, with the mark of its lock.
 * @param {Model} model
 * @param {string} path
 */
export function fileButton(model, path) {
  const mark = icon('lock');
  const node = make('button', { type: 'button', class: 'file-button', title: path, onclick: () => model.go({ file: path }) }, mark, pathText(path));
  return {
    node,
    /** @param {Mode | null} mode */
    update(mode) {
      mark.toggleAttribute('hidden', !mode);
      if (mode) setIcon(mark, MODE_ICONS[mode]);
      setAttribute(node, 'data-mode', mode);
      setAttribute(node, 'aria-label', mode ? `${path}, ${mode}` : path);
      setAttribute(node, 'aria-current', model.state.place.file === path ? 'true' : null);
    },
  };
}

/** What the locks make of a file: a neighbor is blocked, or informed only. @param {Pick<import('../app/types.js').State, 'locks' | 'neighbors' | 'blocked'>} state @param {string} path @returns {Mode | null} */
export function modeOf(state, path) {
  return state.locks.get(path)?.[0].mode ?? (state.blocked.has(path) ? 'NEIGHBOR' : state.neighbors.has(path) ? 'INFORMED' : null);
}

/** An orchestration command as a label. @param {string} command */
export function commandChip(command) {
  return make('span', { class: 'command', 'data-command': command, title: COMMAND_MEANINGS.get(command) ?? command }, command);
}

/** A time that says how long ago it was, or the time of day. @param {(ms: number) => string} [relative] */
export function moment(relative = ago) {
  const node = make('time', { class: 'moment' });
  return {
    node,
    /** @param {number} at @param {number} now @param {boolean} [isAbsolute] */
    update(at, now, isAbsolute = false) {
      setAttribute(node, 'datetime', new Date(at).toISOString());
      setAttribute(node, 'title', isAbsolute ? relative(now - at) : clock(at));
      setText(node, isAbsolute ? clock(at, now) : relative(now - at));
    },
  };
}

/** The time that a lock has left, as minutes and seconds over a bar. */
export function timeLeft() {
  const text = make('span', { class: 'left-text' });
  const bar = make('span', { class: 'left-bar', 'aria-hidden': 'true' }, make('span'));
  const node = make('span', { class: 'left' }, text);
  return {
    node,
    bar,
    /** @param {{ renewedAt: number, expiry: number }} lock @param {number} now */
    update(lock, now) {
      const left = lock.expiry - now;
      setText(text, left > 0 ? countdown(left) : 'expired');
      setAttribute(node, 'title', `Expires ${clock(lock.expiry)}`);
      /** @type {HTMLElement} */ (bar.firstChild).style.transform = `scaleX(${shareLeft(lock, now).toFixed(3)})`;
      bar.classList.toggle('is-short', left < 60_000);
    },
  };
}
