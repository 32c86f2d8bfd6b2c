// The details of the selected task.

import { taskOf } from '../app/board.js';
import { iconButton, keyedChildren, makeButton, makeElement, setAttribute, setText } from '../app/dom.js';
import { isHeld, isHeldBack } from '../app/tasks.js';
import { statusLabel } from '../app/team_labels.js';
import { timeOfDay } from '../app/time.js';
import { mayManageTask } from '../app/user_actions.js';
import { copyButton } from './copy_button.js';
import { detailSection, intentButton, taskButton, timeLeft } from './elements.js';
import { fileList } from './file_list.js';
import { taskPicture } from './task_picture.js';
import { onTick } from './ticker.js';

/** @import { Model } from '../app/types.js' */
/** @import { Note, Task, TaskDetails } from '../app/team_types.js' */

/** Delay of a read of the texts, so that several events cause one. */
const DEBOUNCE_MS = 300;

/** @param {HTMLElement} element @param {Model} model */
export function mountTask(element, model) {
  /** @type {string | null} */
  let id = null;
  /** @type {string | null} */
  let team = null;
  /** @type {TaskDetails | null} */
  let details = null;
  let problem = '';
  let lastRequest = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** The task on the board at the last update. @type {Task | null} */
  let boardTask = null;
  /** The element that gets the focus when the details are closed. @type {HTMLElement | null} */
  let opener = null;

  const title = makeElement('h2', { class: 'file-name task-name', tabindex: '-1' });
  const copy = copyButton('Copy the id', () => id ?? '');
  const closeButton = iconButton('close', { 'aria-label': 'Close the task', title: 'Close (Esc)', onclick: close });
  const status = makeElement('p', { class: 'task-status' });
  const left = timeLeft();
  const facts = makeElement('p', { class: 'file-facts soft' });
  const message = makeElement('p', { class: 'panel-message', role: 'status' });
  const assign = makeButton({ class: 'quiet', onclick: () => confirmAction('assign') }, 'Assign');
  const reopen = makeButton({ class: 'quiet', onclick: () => confirmAction('reopen') }, 'Reopen');
  const actions = makeElement('p', { class: 'actions' }, assign, reopen);
  const intent = makeElement('p', { class: 'intent-line soft' });
  const picture = taskPicture(model);
  const description = textSection('Description');
  const result = textSection('Result');
  const files = fileList(model);
  const filesSection = detailSection('Files', files.node);
  const met = makeElement('ul', { class: 'met-list' });
  const metSection = detailSection('Completed dependencies', met);
  const notes = makeElement('ol', { class: 'note-list' });
  const notesSection = detailSection('Notes', notes);
  const body = makeElement('div', { class: 'file-body' },
    makeElement('div', { class: 'task-head' }, status, left.node), facts, actions, intent, message, picture.node,
    description.node, result.node, filesSection, metSection, notesSection);
  element.classList.add('panel', 'file', 'task');
  element.append(makeElement('div', { class: 'panel-head' }, title, copy.status, copy.button, closeButton), body);
  const renderMet = keyedChildren(met, (/** @type {string} */ dependency) => dependency, (dependency) => {
    const button = taskButton(model, dependency);
    const text = makeElement('p', { class: 'task-text' });
    return {
      node: makeElement('li', {}, button.node, text),
      update() {
        const dependencyResult = details?.results.get(dependency) ?? '';
        button.update(model.state.board.tasks.get(dependency));
        setText(text, dependencyResult);
        text.hidden = dependencyResult === '';
      },
    };
  });
  const keyOfNote = (/** @type {Note} */ { at, by, text }) => `${at} ${by} ${text}`;
  const renderNotes = keyedChildren(notes, keyOfNote, ({ at, by, text }) => {
    const time = makeElement('time', { datetime: new Date(at).toISOString() }, timeOfDay(at, model.now()));
    const head = makeElement('p', { class: 'soft' }, by || 'Coord', ', ', time);
    return { node: makeElement('li', {}, head, makeElement('p', { class: 'task-text' }, text)), update() {} };
  });
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    close();
  });

  function close() {
    model.go({ task: null });
  }

  /** @param {'assign' | 'reopen'} kind */
  function confirmAction(kind) {
    const { team: boardTeam } = model.state.board;
    if (boardTeam && id !== null) model.confirmAction({ kind, team: boardTeam, task: id });
  }

  /** @param {boolean} isRepeated */
  function readSoon(isRepeated) {
    clearTimeout(timer);
    timer = setTimeout(() => read(isRepeated), DEBOUNCE_MS);
  }

  async function read(isRepeated = false) {
    if (id === null || team === null) return;
    lastRequest += 1;
    const request = lastRequest;
    try {
      const response = await model.readTask(team, id);
      if (request !== lastRequest) return;
      details = response;
      problem = '';
      const current = taskOf(model.state.board, id);
      // If an event arrived before the response, the texts may be old: reads them once more.
      if (current && !isRepeated && versionOf(current) !== versionOf(response)) readSoon(true);
    } catch (error) {
      if (request !== lastRequest) return;
      problem = error instanceof Error ? error.message : String(error);
    }
    update();
  }

  function show() {
    const { place, board } = model.state;
    const isOther = place.task !== id;
    [id, team, details, boardTask, problem] = [place.task, board.name, null, null, ''];
    lastRequest += 1;
    clearTimeout(timer);
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const hadFocus = focused !== null && element.contains(focused);
    if (id === null) {
      element.hidden = true;
      if (hadFocus || focused === document.body) opener?.isConnected && opener.focus();
      opener = null;
      return;
    }
    if (isOther && !hadFocus && focused && focused !== document.body) opener = focused;
    element.hidden = false;
    element.setAttribute('aria-label', `Details of task ${id}`);
    body.scrollTo(0, 0);
    picture.reset();
    files.reset();
    update();
    read();
    if (isOther && (hadFocus || focused?.matches('button:focus-visible'))) title.focus({ preventScroll: true });
  }

  /** @returns {Task | null} The task as the board has it, else as it was read. */
  function currentTask() {
    return id === null ? null : taskOf(model.state.board, id) ?? details;
  }

  function update() {
    if (id === null) return;
    const task = currentTask();
    setText(title, task ? `${id} ${task.title}` : id);
    setText(message, problem || (task ? '' : 'Reading the task'));
    for (const node of [status, facts, picture.node]) node.hidden = !task;
    for (const node of [filesSection, metSection, notesSection, intent, left.node]) node.hidden = !task;
    description.update(details?.description ?? '');
    result.update(details?.result ?? '');
    updateActions(task);
    if (!task) return;
    setText(status, statusLabel(task));
    setText(facts, factsOf(task, model.now()).join(' \u00b7 '));
    updateIntent(task.intentId);
    picture.update(task);
    filesSection.hidden = task.files.length === 0;
    files.update(task.files);
    metSection.hidden = task.met.length === 0;
    renderMet(task.met);
    renderNotes(details?.notes ?? []);
    notesSection.hidden = !details || details.notes.length === 0;
    tick();
  }

  /** @param {Task | null} task */
  function updateActions(task) {
    const { board: { team: boardTeam }, caller } = model.state;
    const isOpen = task && boardTeam && !boardTeam.closedAt;
    const mayManage = isOpen && caller && mayManageTask(boardTeam, caller.login, task);
    assign.hidden = !mayManage || task.status === 'completed' || isHeld(task);
    reopen.hidden = !mayManage || !isHeldBack(task);
    actions.hidden = assign.hidden && reopen.hidden;
  }

  /** @param {string | null} intentId */
  function updateIntent(intentId) {
    intent.hidden = intentId === null;
    if (intent.dataset.intent === (intentId ?? '')) return;
    intent.dataset.intent = intentId ?? '';
    const onclick = () => model.go({ view: 'map', intent: intentId });
    const button = intentId ? intentButton(model, intentId, { onclick }) : null;
    button?.update();
    intent.replaceChildren(...(button ? ['Intent:', button.node] : []));
  }

  function tick() {
    const task = currentTask();
    const expires = task && isHeld(task) ? task.lease.expires : null;
    left.node.hidden = expires === null;
    if (task && expires !== null) left.update({ renewedAt: task.claimedAt ?? 0, expiry: expires }, model.now());
    setAttribute(left.node, 'title', expires === null ? null : `The claim expires at ${timeOfDay(expires)}`);
  }

  onTick(tick);
  const causes = /** @type {const} */ (['board', 'place', 'locks', 'intents']);
  model.subscribe((changed) => {
    const { place, board } = model.state;
    if (place.task !== id || (id !== null && board.name !== team)) {
      show();
      return;
    }
    if (id === null || !causes.some((part) => changed.has(part))) return;
    const current = taskOf(board, id);
    const isNewlyDifferent = current && details && versionOf(current) !== versionOf(details);
    // The texts may have changed with the task.
    if (current !== boardTask && (boardTask !== null || isNewlyDifferent)) readSoon(false);
    boardTask = current;
    update();
  });
  element.hidden = true;
  show();
}

/** @param {Task} task @returns {string} If it changes, the texts of the task may have changed too. */
function versionOf({ status, lease, dependencies, met, title }) {
  return JSON.stringify([status, lease.state, lease.token, dependencies.length, met.length, title]);
}

/** @param {Task} task @param {number} now @returns {string[]} */
function factsOf(task, now) {
  const { priority, createdBy, createdAt, assignee, reservedUntil, branch, lapses, status } = task;
  const isReserved = reservedUntil !== null && reservedUntil > now;
  const reservation = isReserved ? `, reserved until ${timeOfDay(reservedUntil, now)}` : '';
  return [
    priority === 'normal' ? '' : `${priority} priority`,
    `added by ${createdBy} at ${timeOfDay(createdAt, now)}`,
    assignee !== null && status !== 'completed' ? `assigned to ${assignee}${reservation}` : '',
    lapses > 0 ? `claims expired ${lapses === 1 ? 'once' : `${lapses} times`}` : '',
    branch ? `on ${branch}` : '',
  ].filter(Boolean);
}

/** @param {string} name */
function textSection(name) {
  const content = makeElement('p', { class: 'task-text' });
  const node = detailSection(name, content);
  node.hidden = true;
  return {
    node,
    /** @param {string} text */
    update(text) {
      node.hidden = text === '';
      setText(content, text);
    },
  };
}
