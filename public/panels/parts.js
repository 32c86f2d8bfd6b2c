// Small elements that several panels share.

import { badgeOf, holderKey } from '../app/holder.js';
import { intentName } from '../app/intents.js';
import { nameParts } from '../app/names.js';
import { columnOf } from '../app/tasks.js';
import { COLUMN_WORDS, standingOf } from '../app/team_words.js';
import { memberOf } from '../app/teams.js';
import { ago, clock, countdown } from '../app/time.js';
import { icon, make, setAttribute, setIcon, setText } from '../app/dom.js';
import { COMMAND_MEANINGS, shareLeft, splitPath } from './words.js';

/** @import { Model, State } from '../app/types.js' */

const MODE_ICONS = { WRITING: 'pencil', READING: 'eye', NEIGHBOR: 'link', INFORMED: 'link' };
/** The bar of a lock with less time left is a warning. */
const SHORT_MS = 60_000;

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
 * The badge of a member of the team on the screen. It is the badge of the member's holder on the map.
 * @param {Model} model
 */
export function memberBadge(model) {
  const node = make('span', { 'aria-hidden': 'true' });
  return {
    node,
    /** @param {string} handle */
    update(handle) {
      const member = memberOf(model.state.board.team, handle);
      // Before the team is read, an agent whose id is the handle is most likely the member.
      const likelyAgent = member ? null : model.state.agents.find(({ agentId }) => agentId === handle);
      const { agent, login } = member ?? { agent: likelyAgent?.agentId ?? null, login: handle };
      const holder = likelyAgent?.holder ?? holderKey(login, agent);
      const { letters, slot } = badgeOf(holder, agent, login);
      setAttribute(node, 'class', `badge badge-${slot}`);
      setAttribute(node, 'title', holder);
      setText(node, letters);
    },
  };
}

/**
 * The name of a holder, with its login if there are several logins.
 * @param {Model} model
 * @param {string} holder
 * @param {string} [className]
 */
export function holderName(model, holder, className = 'agent-name') {
  const name = make('span', {});
  const login = make('span', { class: 'agent-user' });
  const node = make('strong', { class: className, title: holder }, name, login);
  const update = () => {
    const parts = nameParts(model.state, holder);
    setText(name, parts.name);
    setText(login, parts.login && ` ${parts.login}`);
  };
  update();
  return { node, update };
}

/** A path that cuts its folder before its name. @param {string} path @returns {HTMLElement} */
export function pathText(path) {
  const [folder, name] = splitPath(path);
  return make('span', { class: 'path' },
    folder ? make('span', { class: 'path-folder' }, folder.slice(0, -1)) : null,
    make('span', { class: 'path-name' }, folder ? `/${name}` : name));
}

/**
 * A button that selects a file, with the mark of its lock.
 * @param {Model} model
 * @param {string} path
 */
export function fileButton(model, path) {
  const mark = icon('lock');
  const onclick = () => model.go({ file: path });
  const node = make('button', { type: 'button', class: 'file-button', title: path, onclick }, mark, pathText(path));
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

/**
 * @param {Pick<State, 'locks' | 'neighbors' | 'blocked'>} state
 * @param {string} path
 * @returns {Mode | null} The mode of its lock; for a neighbor, whether it is blocked.
 */
export function modeOf({ locks, neighbors, blocked }, path) {
  return locks.get(path)?.[0].mode ?? (blocked.has(path) ? 'NEIGHBOR' : neighbors.has(path) ? 'INFORMED' : null);
}

/**
 * The name of an intent as a button.
 * @param {Model} model
 * @param {string} id
 * @param {{ act?: () => void, title?: string }} [options] By default it selects the intent.
 */
export function intentButton(model, id, { act = () => model.go({ intent: id }), title = 'Select the intent' } = {}) {
  const node = make('button', { type: 'button', class: 'quiet intent-button', onclick: act });
  return {
    node,
    update() {
      const name = intentName(model.state.intents, id);
      setText(node, name);
      setAttribute(node, 'title', name === id ? title : `${title} ${id}`);
    },
  };
}

/**
 * A button that selects a task. Its icon shows the column of the task.
 * @param {Model} model
 * @param {string} id
 * @param {string} [team] By default the team of the board.
 */
export function taskButton(model, id, team) {
  const mark = icon('check');
  const title = make('span', { class: 'task-title' });
  // The icon as words, for screen readers.
  const columnText = make('span', { class: 'unseen' });
  const node = make('button', { type: 'button', class: 'task-button', onclick: select },
    mark, make('code', {}, id), ' ', title, ' ', columnText);

  function select() {
    const { place, board } = model.state;
    model.go({ view: place.view === 'tasks' ? 'tasks' : 'board', team: team ?? board.name, task: id });
  }

  return {
    node,
    /**
     * @param {import('../app/team_types.js').Task | null | undefined} task Empty if the page does not know it, because
     *   it may be completed.
     */
    update(task) {
      const column = task ? columnOf(task) : null;
      mark.toggleAttribute('hidden', column === null);
      if (column) setIcon(mark, COLUMN_WORDS[column].icon);
      setAttribute(node, 'data-column', column);
      setText(title, task?.title ?? '');
      setAttribute(node, 'title', task ? `${id}: ${task.title}\n${standingOf(task)}` : id);
      setText(columnText, column ? `(${COLUMN_WORDS[column].title})` : '');
      setAttribute(node, 'aria-current', model.state.place.task === id ? 'true' : null);
    },
  };
}

/** An orchestration command as a label. @param {string} command */
export function commandChip(command) {
  const title = COMMAND_MEANINGS.get(command) ?? command;
  return make('span', { class: 'command', 'data-command': command, title }, command);
}

/** A time as its age, or as the time of day. @param {(ms: number) => string} [relative] */
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

/** The time left of a lock, as minutes and seconds and as a bar. */
export function timeLeft() {
  const text = make('span', { class: 'left-text' });
  const fill = make('span');
  const bar = make('span', { class: 'left-bar', 'aria-hidden': 'true' }, fill);
  const node = make('span', { class: 'left' }, text);
  return {
    node,
    bar,
    /** @param {{ renewedAt: number, expiry: number }} lock @param {number} now */
    update(lock, now) {
      const left = lock.expiry - now;
      setText(text, left > 0 ? countdown(left) : 'expired');
      setAttribute(node, 'title', `Expires ${clock(lock.expiry)}`);
      fill.style.transform = `scaleX(${shareLeft(lock, now).toFixed(3)})`;
      bar.classList.toggle('is-short', left < SHORT_MS);
    },
  };
}
