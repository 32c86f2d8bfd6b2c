// Which of the slots are visible: by the address, by the section on a narrow screen, and for print.

import { shortRepository } from './address.js';
import { mountAsides } from './asides.js';
import { setText } from './dom.js';

/** @typedef {import('./types.js').Model} Model */

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
    button.addEventListener('click', () => model.go({ view: button.dataset.view === 'table' ? 'table' : 'map' }));
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
    const { place, connection, shownAt } = model.state;
    const { view, repoUrl, file } = place;
    // Panels without rows would say that nobody works here, which nobody knows yet.
    const isUnknown = !repoUrl || shownAt === null || (connection.phase === 'ended' && !slot('blank').hidden);
    body.toggleAttribute('data-unknown', isUnknown);
    const isTable = isPrinting || view === 'table';
    slot('heading').hidden = !repoUrl;
    setText(slot('heading'), `${shortRepository(repoUrl ?? '')} ${place.branch ?? ''}`);
    slot('map').hidden = isTable || !repoUrl;
    slot('table').hidden = !isTable || !repoUrl;
    slot('locked').hidden = isTable || !repoUrl;
    slot('aside').hidden = isUnknown;
    slot('sections').hidden = isUnknown;
    slot('views').hidden = isUnknown;
    slot('search').hidden = isUnknown;
    slot('file').hidden = !file || isPrinting;
    for (const button of views) button.setAttribute('aria-pressed', String(button.dataset.view === view));
    for (const button of sections) button.setAttribute('aria-pressed', String(button.dataset.section === body.dataset.section));
  }
  return {
    update() {
      asides.update();
      update();
    },
  };
}
