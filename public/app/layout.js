// Which of the slots are visible: by the address, by the section on a narrow screen, and for print.

import { isBoard, shortRepository } from './address.js';
import { mountAsides } from './asides.js';
import { setText } from './dom.js';

/** @typedef {import('./types.js').Model} Model */

/** What stands beside the board in place of agents and activity. */
const BOARD_SECTIONS = ['members', 'messages'];

/** @param {string} id */
function slot(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * @param {Model} model
 * @returns {{ update: () => void }}
 */
export function mountLayout(model) {
  const { body } = document;
  const views = /** @type {HTMLElement[]} */ ([...slot('views').children]);
  const sections = /** @type {HTMLElement[]} */ ([...slot('sections').children]);
  let isPrinting = false;

  for (const button of views) {
    button.addEventListener('click', () => model.go({ view: /** @type {import('./types.js').Place['view']} */ (button.dataset.view) }));
  }
  const show = (/** @type {string} */ section) => {
    body.dataset.section = section;
    asides.show(section);
    update();
  };
  const asides = mountAsides(model, show);
  for (const button of sections) button.addEventListener('click', () => show(button.dataset.section ?? 'map'));
  slot('brand').addEventListener('click', (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    model.go({ repoUrl: null, branch: null });
  });
  slot('help-button').addEventListener('click', () => {
    const dialog = /** @type {HTMLDialogElement} */ (slot('help'));
    if (!dialog.open) dialog.showModal();
  });
  const print = (/** @type {boolean} */ isNow) => {
    isPrinting = isNow;
    body.dataset.printed = isNow ? new Date(model.now()).toLocaleString() : '';
    update();
  };
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));

  function update() {
    const { place, connection, locksReadAt } = model.state;
    const { view, repoUrl, file, task } = place;
    // Panels that have heard nothing from the server have nothing to say.
    const isUnknown = !repoUrl || (connection.heardAt === null && locksReadAt === null) || (connection.phase === 'ended' && !slot('blank').hidden);
    body.toggleAttribute('data-unknown', isUnknown);
    const onBoard = isBoard(place);
    body.toggleAttribute('data-board', onBoard);
    const isTable = !onBoard && (isPrinting || view === 'table');
    slot('heading').hidden = !repoUrl;
    setText(slot('heading'), `${shortRepository(repoUrl ?? '')} ${place.branch ?? ''}`);
    const isTime = view === 'time' && !isTable;
    slot('time').hidden = !isTime || !repoUrl;
    slot('map').hidden = onBoard || isTable || isTime || !repoUrl;
    slot('board').hidden = !onBoard || !repoUrl;
    slot('table').hidden = !isTable || !repoUrl;
    slot('locked').hidden = onBoard || isTable || isTime || !repoUrl;
    slot('aside').hidden = isUnknown;
    slot('aside').setAttribute('aria-label', onBoard ? 'Members and messages' : 'Agents and activity');
    slot('sections').hidden = isUnknown;
    slot('views').hidden = isUnknown;
    slot('search').hidden = isUnknown;
    slot('file').hidden = !file || isPrinting;
    slot('task').hidden = !task || !onBoard || isPrinting;
    // A repository without teams has no board; an address that names one says so.
    const hasTeams = ['shown', 'sign_in'].includes(model.state.teams.phase) || onBoard;
    for (const button of views) if (button.dataset.view === 'board') button.hidden = !hasTeams;
    const isOfBoard = (/** @type {HTMLElement} */ each) => BOARD_SECTIONS.includes(each.dataset.section ?? '');
    for (const each of sections) if (['agents', 'activity', ...BOARD_SECTIONS].includes(each.dataset.section ?? '')) each.hidden = onBoard !== isOfBoard(each);
    for (const name of ['agents', 'activity', ...BOARD_SECTIONS]) slot(name).hidden = onBoard !== BOARD_SECTIONS.includes(name);
    const first = sections[0];
    setText(first, onBoard ? 'Board' : 'Files');
    if (sections.some((each) => each.hidden && each.dataset.section === body.dataset.section)) body.dataset.section = 'map';
    for (const button of views) button.setAttribute('aria-pressed', String(button.dataset.view === (view === 'tasks' ? 'board' : view)));
    for (const button of sections) button.setAttribute('aria-pressed', String(button.dataset.section === body.dataset.section));
  }
  return {
    update() {
      asides.update();
      update();
    },
  };
}
