// The details of the selected task.

import { taskOf } from '../app/board.js';
import { icon, keyedChildren, make, setAttribute, setText } from '../app/dom.js';
import { isHeld, isHeldBack } from '../app/tasks.js';
import { mayManage } from '../app/acts.js';
import { standingOf } from '../app/team_words.js';
import { clock } from '../app/time.js';
import { copyButton } from './copy_button.js';
import { fileList } from './file_list.js';
import { intentButton } from './intent_button.js';
import { timeLeft } from './parts.js';
import { taskButton } from './task_button.js';
import { taskPicture } from './task_picture.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/team_types.js').Task} Task */
/** @typedef {import('../app/team_types.js').WholeTask} WholeTask */

/** Before the texts are read again that an event has changed. */
const DEBOUNCE_MS = 300;

/** @param {HTMLElement} element @param {Model} model */
export function mountTask(element, model) {
  /** @type {string | null} */
  let id = null;
  /** @type {string | null} */
  let team = null;
  /** @type {WholeTask | null} */
  let whole = null;
  let problem = '';
  let turn = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** What is known of it from the board. @type {Task | null} */
  let known = null;
  /** What had the focus before, to give it back. @type {HTMLElement | null} */
  let opener = null;

  const title = make('h2', { class: 'file-name task-name', tabindex: '-1' });
  const copy = copyButton('Copy the id', () => id ?? '');
  const close = make('button', { type: 'button', class: 'icon-button', 'aria-label': 'Close the task', title: 'Close (Esc)', onclick: () => model.go({ task: null }) }, icon('close'));
  const standing = make('p', { class: 'task-standing' });
  const left = timeLeft();
  const facts = make('p', { class: 'file-facts soft' });
  const message = make('p', { class: 'panel-message', role: 'status' });
  const assign = make('button', { type: 'button', class: 'quiet', onclick: () => ask('assign') }, 'Assign');
  const reopen = make('button', { type: 'button', class: 'quiet', onclick: () => ask('reopen') }, 'Reopen');
  const acts = make('p', { class: 'acts' }, assign, reopen);
  const intent = make('p', { class: 'intent-line soft' });
  const picture = taskPicture(model);
  const description = textSection('Description');
  const result = textSection('Result');
  const files = fileList(model);
  const filesSection = make('section', { class: 'file-section' }, make('h3', {}, 'Files'), files.node);
  const met = make('ul', { class: 'met-list' });
  const metSection = make('section', { class: 'file-section' }, make('h3', {}, 'Completed before'), met);
  const notes = make('ol', { class: 'note-list' });
  const notesSection = make('section', { class: 'file-section' }, make('h3', {}, 'Notes'), notes);
  element.classList.add('panel', 'file', 'task');
  element.append(
    make('div', { class: 'panel-head' }, title, copy.said, copy.button, close),
    make('div', { class: 'file-body' }, make('div', { class: 'task-head' }, standing, left.node), facts, acts, intent, message, picture.node, description.node, result.node, filesSection, metSection, notesSection));
  const renderMet = keyedChildren(met, (/** @type {string} */ each) => each, (each) => {
    const button = taskButton(model, each);
    const text = make('p', { class: 'task-text' });
    return {
      node: make('li', {}, button.node, text),
      update() {
        button.update(model.state.board.tasks.get(each));
        setText(text, whole?.results.get(each) ?? '');
        text.hidden = !whole?.results.get(each);
      },
    };
  });
  const renderNotes = keyedChildren(notes, (/** @type {WholeTask['notes'][number]} */ { at, by, text }) => `${at} ${by} ${text}`, ({ at, by, text }) => ({
    node: make('li', {}, make('p', { class: 'soft' }, by || 'Coord', ', ', make('time', { datetime: new Date(at).toISOString() }, clock(at, model.now()))), make('p', { class: 'task-text' }, text)),
    update() {},
  }));
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    model.go({ task: null });
  });

  /** @param {'assign' | 'reopen'} kind */
  function ask(kind) {
    const { team: whose } = model.state.board;
    if (whose && id !== null) model.ask({ kind, team: whose, task: id });
  }

  /** @param {boolean} isAgain */
  function readSoon(isAgain) {
    clearTimeout(timer);
    timer = setTimeout(() => read(isAgain), DEBOUNCE_MS);
  }

  async function read(isAgain = false) {
    if (id === null || team === null) return;
    const own = ++turn;
    try {
      const read = await model.readTask(team, id);
      if (own !== turn) return;
      whole = read;
      problem = '';
      const now = taskOf(model.state.board, id);
      // An event was quicker than the answer: once more.
      if (now && !isAgain && versionOf(now) !== versionOf(read)) readSoon(true);
    } catch (error) {
      if (own !== turn) return;
      problem = error instanceof Error ? error.message : String(error);
    }
    update();
  }

  function show() {
    const { place, board } = model.state;
    const isOther = place.task !== id;
    [id, team, whole, known, problem] = [place.task, board.name, null, null, ''];
    turn += 1;
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
    element.querySelector('.file-body')?.scrollTo(0, 0);
    picture.reset();
    files.reset();
    update();
    read();
    if (isOther && (hadFocus || focused?.matches('button:focus-visible'))) title.focus({ preventScroll: true });
  }

  function update() {
    if (id === null) return;
    const task = taskOf(model.state.board, id) ?? whole;
    setText(title, task ? `${id} ${task.title}` : id);
    setText(message, problem || (task ? '' : 'Reading the task'));
    for (const part of [standing, facts, picture.node]) part.hidden = !task;
    filesSection.hidden = metSection.hidden = notesSection.hidden = intent.hidden = left.node.hidden = !task;
    description.update(whole?.description ?? '');
    result.update(whole?.result ?? '');
    const { board, caller } = model.state;
    const mayAct = Boolean(task && board.team && !board.team.closedAt && caller && mayManage(board.team, caller.login, task));
    assign.hidden = !mayAct || task?.status === 'completed' || Boolean(task && isHeld(task));
    reopen.hidden = !mayAct || !task || !isHeldBack(task);
    acts.hidden = assign.hidden && reopen.hidden;
    if (!task) return;
    setText(standing, standingOf(task));
    setText(facts, factsOf(task, model.now()).join(' \u00b7 '));
    if (intent.dataset.intent !== (task.intentId ?? '')) {
      intent.dataset.intent = task.intentId ?? '';
      const button = task.intentId ? intentButton(model, task.intentId, { act: () => model.go({ view: 'map', intent: task.intentId }) }) : null;
      button?.update();
      intent.replaceChildren(...(button ? ['Intent:', button.node] : []));
    }
    intent.hidden = task.intentId === null;
    picture.update(task);
    filesSection.hidden = task.files.length === 0;
    files.update(task.files);
    metSection.hidden = task.met.length === 0;
    renderMet(task.met);
    renderNotes(whole?.notes ?? []);
    notesSection.hidden = !whole || whole.notes.length === 0;
    tick();
  }

  function tick() {
    const task = id === null ? null : taskOf(model.state.board, id) ?? whole;
    const isOut = Boolean(task && isHeld(task) && task.lease.expires !== null);
    left.node.hidden = !isOut;
    if (task && isOut) left.update({ renewedAt: task.claimedAt ?? 0, expiry: task.lease.expires ?? 0 }, model.now());
    setAttribute(left.node, 'title', isOut ? `The claim expires at ${clock(task?.lease.expires ?? 0)}` : null);
  }

  const endTicks = everySecond(tick);
  const unsubscribe = model.subscribe((changed) => {
    const { place, board } = model.state;
    if (place.task !== id || (id !== null && board.name !== team)) {
      show();
      return;
    }
    if (id === null || !(changed.has('board') || changed.has('place') || changed.has('locks') || changed.has('intents'))) return;
    const now = taskOf(board, id);
    // Its texts may have changed with it.
    if (now !== known && (known !== null || (now && whole && versionOf(now) !== versionOf(whole)))) readSoon(false);
    known = now;
    update();
  });
  element.hidden = true;
  show();
  return {
    destroy() {
      endTicks();
      unsubscribe();
      clearTimeout(timer);
    },
  };
}

/** @param {Task} task @returns {string} What a change of which may have changed the texts too. */
function versionOf({ status, lease, dependencies, met, title }) {
  return JSON.stringify([status, lease.state, lease.token, dependencies.length, met.length, title]);
}

/** @param {Task} task @param {number} now @returns {string[]} */
function factsOf(task, now) {
  const { priority, createdBy, createdAt, assignee, reservedUntil, branch, lapses, status } = task;
  const isKept = assignee !== null && reservedUntil !== null && reservedUntil > now;
  return [
    priority === 'normal' ? '' : `${priority} priority`,
    `added by ${createdBy} at ${clock(createdAt, now)}`,
    assignee !== null && status !== 'completed' ? `assigned to ${assignee}${isKept ? `, kept until ${clock(reservedUntil, now)}` : ''}` : '',
    lapses > 0 ? `claims expired ${lapses === 1 ? 'once' : `${lapses} times`}` : '',
    branch ? `on ${branch}` : '',
  ].filter(Boolean);
}

/** @param {string} name */
function textSection(name) {
  const text = make('p', { class: 'task-text' });
  const node = make('section', { class: 'file-section', hidden: true }, make('h3', {}, name), text);
  return {
    node,
    /** @param {string} said */
    update(said) {
      node.hidden = said === '';
      setText(text, said);
    },
  };
}
