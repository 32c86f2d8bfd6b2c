// Small elements that several panels share.

import { icon, makeButton, makeElement, setAttribute, setIcon, setText } from '../app/dom.js';
import { splitPath } from '../app/formatting.js';
import { badgeOf, holderKey, nameParts } from '../app/holder.js';
import { intentName } from '../app/intents.js';
import { columnOf } from '../app/tasks.js';
import { COLUMN_LABELS, statusLabel } from '../app/team_labels.js';
import { memberOf } from '../app/teams.js';
import { ago, countdown, timeOfDay } from '../app/time.js';

/** @import { Child } from '../app/dom.js' */
/** @import { Model, State } from '../app/types.js' */

/** The meaning of each orchestration command, for an agent. */
export const COMMAND_MEANINGS = new Map([
  ['PROCEED', 'Go on with the work.'],
  ['WAIT', 'Wait, then claim again.'],
  ['SWITCH_TASK', 'Work on something else.'],
  ['PULL', 'Pull the branch, then claim again.'],
  ['PUSH', 'Push the commits, then release again.'],
  ['STOP', 'Stop, and report.'],
]);

/** Maximum number of files that an entry shows. */
const FILES_SHOWN = 3;
const MODE_ICONS = { WRITING: 'pencil', READING: 'eye', NEIGHBOR: 'link', INFORMED: 'link' };
/** The bar of a lock with less time left is a warning. */
const SHORT_MS = 60_000;

/** @typedef {keyof typeof MODE_ICONS} Mode */

/** The head of a panel. @param {(Node | string)[]} title @param {...Node} controls */
export function panelHead(title, ...controls) {
  const heading = makeElement('h2', { class: 'panel-title' }, ...title);
  return makeElement('div', { class: 'panel-head' }, heading, ...controls);
}

/** A section of the details of a file or a task. @param {string} title @param {...Child} content */
export function detailSection(title, ...content) {
  return makeElement('section', { class: 'file-section' }, makeElement('h3', {}, title), ...content);
}

/**
 * A row of a feed.
 * @param {Record<string, unknown>} attributes
 * @param {Node} mark
 * @param {Child[]} title
 * @param {Child[]} notes At the end of the line of the title.
 * @param {...Child} content Below the title.
 */
export function entryRow(attributes, mark, title, notes, ...content) {
  const head = makeElement('div', { class: 'entry-head' },
    makeElement('span', { class: 'entry-title' }, ...title), ...notes);
  return makeElement('li', attributes, mark, makeElement('div', { class: 'entry-text' }, head, ...content));
}

/**
 * The badge of a holder: its letters on its color.
 * @param {string} holder
 * @param {string | null} agentId
 * @param {string | null} userName
 */
export function badge(holder, agentId, userName) {
  const { letters, slot } = badgeOf(holder, agentId, userName ?? holder);
  return makeElement('span', { class: `badge badge-${slot}`, 'aria-hidden': 'true', title: holder }, letters);
}

/**
 * The badge of a member of the team on the screen. It is the badge of the member's holder on the map.
 * @param {Model} model
 */
export function memberBadge(model) {
  const node = makeElement('span', { 'aria-hidden': 'true' });
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
  const name = makeElement('span');
  const login = makeElement('span', { class: 'agent-user' });
  const node = makeElement('strong', { class: className, title: holder }, name, login);
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
  return makeElement('span', { class: 'path' },
    folder ? makeElement('span', { class: 'path-folder' }, folder.slice(0, -1)) : null,
    makeElement('span', { class: 'path-name' }, folder ? `/${name}` : name));
}

/**
 * A button that selects a file, with the mark of its lock.
 * @param {Model} model
 * @param {string} path
 */
export function fileButton(model, path) {
  const mark = icon('lock');
  const onclick = () => model.go({ file: path });
  const node = makeButton({ class: 'file-button', title: path, onclick }, mark, pathText(path));
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
 * The first files as buttons, and the number of the others.
 * @param {Model} model
 * @param {string[]} paths
 * @param {number} fileCount The files in all: `paths` may not have all of them.
 */
export function fileButtons(model, paths, fileCount) {
  const buttons = paths.slice(0, FILES_SHOWN).map((path) => ({ path, ...fileButton(model, path) }));
  const more = fileCount - buttons.length;
  const note = more > 0 ? makeElement('span', { class: 'soft' }, `and ${more} more`) : null;
  return {
    node: makeElement('div', { class: 'entry-files' }, ...buttons.map(({ node }) => node), note),
    /** @param {(path: string) => Mode | null} modeOfPath */
    update(modeOfPath) {
      for (const { path, update } of buttons) update(modeOfPath(path));
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
 * @param {{ onclick?: () => void, title?: string }} [options] By default it selects the intent.
 */
export function intentButton(model, id, options = {}) {
  const { onclick = () => model.go({ intent: id }), title = 'Select the intent' } = options;
  const node = makeButton({ class: 'quiet intent-button', onclick });
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
  const title = makeElement('span', { class: 'task-title' });
  // The icon as words, for screen readers.
  const columnText = makeElement('span', { class: 'unseen' });
  const node = makeButton({ class: 'task-button', onclick: select },
    mark, makeElement('code', {}, id), ' ', title, ' ', columnText);

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
      if (column) setIcon(mark, COLUMN_LABELS[column].icon);
      setAttribute(node, 'data-column', column);
      setText(title, task?.title ?? '');
      setAttribute(node, 'title', task ? `${id}: ${task.title}\n${statusLabel(task)}` : id);
      setText(columnText, column ? `(${COLUMN_LABELS[column].title})` : '');
      setAttribute(node, 'aria-current', model.state.place.task === id ? 'true' : null);
    },
  };
}

/** An orchestration command as a label. @param {string} command */
export function commandChip(command) {
  const title = COMMAND_MEANINGS.get(command) ?? command;
  return makeElement('span', { class: 'command', 'data-command': command, title }, command);
}

/** A time as its age, or as the time of day. @param {(ms: number) => string} [relative] */
export function timeLabel(relative = ago) {
  const node = makeElement('time', { class: 'moment' });
  return {
    node,
    /** @param {number} at @param {number} now @param {boolean} [isAbsolute] */
    update(at, now, isAbsolute = false) {
      setAttribute(node, 'datetime', new Date(at).toISOString());
      setAttribute(node, 'title', isAbsolute ? relative(now - at) : timeOfDay(at));
      setText(node, isAbsolute ? timeOfDay(at, now) : relative(now - at));
    },
  };
}

/** The time left of a lock, as minutes and seconds and as a bar. */
export function timeLeft() {
  const text = makeElement('span', { class: 'left-text' });
  const fill = makeElement('span');
  const bar = makeElement('span', { class: 'left-bar', 'aria-hidden': 'true' }, fill);
  const node = makeElement('span', { class: 'left' }, text);
  return {
    node,
    bar,
    /** @param {{ renewedAt: number, expiry: number }} lock @param {number} now */
    update(lock, now) {
      const left = lock.expiry - now;
      setText(text, left > 0 ? countdown(left) : 'expired');
      setAttribute(node, 'title', `Expires ${timeOfDay(lock.expiry)}`);
      fill.style.transform = `scaleX(${shareLeft(lock, now).toFixed(3)})`;
      bar.classList.toggle('is-short', left < SHORT_MS);
    },
  };
}

/**
 * @param {{ renewedAt: number, expiry: number }} lock
 * @param {number} now
 * @returns {number} The share of its time that the lock has left, 0 to 1.
 */
export function shareLeft({ renewedAt, expiry }, now) {
  const lifetime = expiry - renewedAt;
  return lifetime > 0 ? Math.min(1, Math.max(0, (expiry - now) / lifetime)) : 0;
}
