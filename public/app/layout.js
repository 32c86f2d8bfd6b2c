// Shows and hides the sections of the page: by the address, by the selected section on a narrow screen, and for print.

import { isBoard, shortRepository } from './address.js';
import { elementById, setText } from './dom.js';
import { mountSidePanels } from './side_panels.js';

/** The sections beside the map, and the sections beside the board. */
const MAP_SECTIONS = ['agents', 'activity'];
const BOARD_SECTIONS = ['members', 'messages'];

/** @param {import('./types.js').Model} model @returns {{ update: () => void }} */
export function mountLayout(model) {
  const { body } = document;
  const views = /** @type {HTMLElement[]} */ ([...elementById('views').children]);
  const sections = /** @type {HTMLElement[]} */ ([...elementById('sections').children]);
  let isPrinting = false;

  for (const button of views) {
    const view = /** @type {import('./types.js').Place['view']} */ (button.dataset.view);
    button.addEventListener('click', () => model.go({ view }));
  }
  const show = (/** @type {string} */ section) => {
    body.dataset.section = section;
    sidePanels.show(section);
    update();
  };
  const sidePanels = mountSidePanels(model, show);
  for (const button of sections) button.addEventListener('click', () => show(button.dataset.section ?? 'map'));
  elementById('brand').addEventListener('click', (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    model.go({ repoUrl: null, branch: null });
  });
  const setPrinting = (/** @type {boolean} */ isNowPrinting) => {
    isPrinting = isNowPrinting;
    body.dataset.printed = isPrinting ? new Date(model.now()).toLocaleString() : '';
    update();
  };
  addEventListener('beforeprint', () => setPrinting(true));
  addEventListener('afterprint', () => setPrinting(false));

  function update() {
    const { place, connection, locksReadAt, teams } = model.state;
    const { view, repoUrl, file, task } = place;
    // Until the server has sent something, the panels are empty.
    const hasNoMessage = connection.lastMessageAt === null && locksReadAt === null;
    const hasEnded = connection.phase === 'ended' && !elementById('blank').hidden;
    const isUnknown = !repoUrl || hasNoMessage || hasEnded;
    const onBoard = isBoard(place);
    const isTable = !onBoard && (isPrinting || view === 'table');
    const isTime = view === 'time' && !isTable;
    const isMap = !onBoard && !isTable && !isTime;
    body.toggleAttribute('data-unknown', isUnknown);
    body.toggleAttribute('data-board', onBoard);
    setText(elementById('heading'), `${shortRepository(repoUrl ?? '')} ${place.branch ?? ''}`);
    elementById('heading').hidden = !repoUrl;
    elementById('time').hidden = !isTime || !repoUrl;
    elementById('map').hidden = !isMap || !repoUrl;
    elementById('board').hidden = !onBoard || !repoUrl;
    elementById('table').hidden = !isTable || !repoUrl;
    elementById('locked').hidden = !isMap || !repoUrl;
    elementById('aside').setAttribute('aria-label', onBoard ? 'Members and messages' : 'Agents and activity');
    for (const id of ['aside', 'sections', 'views', 'search']) elementById(id).hidden = isUnknown;
    elementById('file').hidden = !file || isPrinting;
    elementById('task').hidden = !task || !onBoard || isPrinting;
    // A repository without teams has no button for the board, but an address can select the board, which says so.
    const hasBoard = ['shown', 'sign_in'].includes(teams.phase) || onBoard;
    for (const button of views) if (button.dataset.view === 'board') button.hidden = !hasBoard;
    for (const name of [...MAP_SECTIONS, ...BOARD_SECTIONS]) {
      const isHidden = onBoard !== BOARD_SECTIONS.includes(name);
      elementById(name).hidden = isHidden;
      for (const button of sections) if (button.dataset.section === name) button.hidden = isHidden;
    }
    setText(sections[0], onBoard ? 'Board' : 'Files');
    const isSelected = (/** @type {HTMLElement} */ button) => button.dataset.section === body.dataset.section;
    if (sections.some((button) => button.hidden && isSelected(button))) body.dataset.section = 'map';
    const selectedView = view === 'tasks' ? 'board' : view;
    for (const button of views) button.setAttribute('aria-pressed', String(button.dataset.view === selectedView));
    for (const button of sections) button.setAttribute('aria-pressed', String(isSelected(button)));
  }
  return {
    update() {
      sidePanels.update();
      update();
    },
  };
}
