// The banners above the map, and the one notice that stands in its place.

import { keyedChildren, make, setText } from './dom.js';
import { noticesOf } from './truth.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./truth.js').Notice} Notice */

const LABELS = { retry: 'Try again', sign_in: 'Sign in', choose: 'Choose another' };

/**
 * @param {{ banners: HTMLElement, page: HTMLElement }} places
 * @param {Model} model
 * @param {{ sign_in: () => void, choose: () => void }} actions
 * @returns {{ update: () => void }}
 */
export function mountNotices({ banners, page }, model, actions) {
  /** @param {Notice} given */
  function build(given) {
    const title = make('strong', {});
    const text = make('span', { class: 'notice-text' });
    const next = make('span', { class: 'notice-next' });
    const bar = /** @type {HTMLProgressElement} */ (make('progress', { 'aria-label': 'Files that are read' }));
    const { action } = given;
    const act = action && (action === 'retry' ? model.retry : actions[action]);
    const button = act && make('button', { type: 'button', onclick: () => act() }, LABELS[/** @type {'retry'} */ (action)]);
    const mark = make('span', { class: 'notice-mark', 'aria-hidden': 'true' }, '!');
    const node = make('div', { class: `notice ${given.tone}`, 'data-kind': given.kind }, mark, make('p', {}, title, ' ', text, ' ', next), bar, button);
    return {
      node,
      /** @param {Notice} notice */
      update(notice) {
        setText(title, notice.title);
        setText(text, notice.text);
        setText(next, notice.next);
        bar.hidden = notice.progress === null;
        if (notice.progress) {
          bar.max = notice.progress.max;
          bar.value = notice.progress.value;
        }
      },
    };
  }

  // A notice that stays is the same element, and keeps its focus.
  const keyOf = (/** @type {Notice} */ { kind, tone }) => `${kind} ${tone}`;
  const drawBanners = keyedChildren(banners, keyOf, build);
  const drawPage = keyedChildren(page, keyOf, build);

  function update() {
    const notices = noticesOf(model.state, model.now());
    drawBanners(notices.filter(({ isPage }) => !isPage));
    drawPage(notices.filter(({ isPage }) => isPage));
    page.hidden = !notices.some(({ isPage }) => isPage) && model.state.place.repoUrl !== null;
    document.body.toggleAttribute('data-blank', !page.hidden);
  }
  return { update };
}
