// The banners above the map, and the notice that takes its place.

import { keyedChildren, makeButton, makeElement, setText } from './dom.js';
import { noticesOf } from './status_sentences.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./status_sentences.js').Notice} Notice */

const LABELS = { retry: 'Try again', sign_in: 'Sign in', choose: 'Choose another' };

/**
 * @param {{ banners: HTMLElement, page: HTMLElement }} parents
 * @param {Model} model
 * @param {{ sign_in: () => void, choose: () => void }} actions
 * @returns {{ update: () => void }}
 */
export function mountNotices({ banners, page }, model, actions) {
  const callbacks = { ...actions, retry: model.retry };

  /** @param {Notice} first */
  function build({ action, tone, kind }) {
    const title = makeElement('strong');
    const text = makeElement('span');
    const next = makeElement('span', { class: 'notice-next' });
    const bar = makeElement('progress', { 'aria-label': 'Scanned files' });
    const button = action && makeButton({ onclick: callbacks[action] }, LABELS[action]);
    const mark = makeElement('span', { class: 'notice-mark', 'aria-hidden': 'true' }, '!');
    const sentences = makeElement('p', {}, title, ' ', text, ' ', next);
    return {
      node: makeElement('div', { class: `notice ${tone}`, 'data-kind': kind }, mark, sentences, bar, button),
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

  // A notice that stays keeps its element, and with it the focus.
  const keyOf = (/** @type {Notice} */ { kind, tone }) => `${kind} ${tone}`;
  const drawBanners = keyedChildren(banners, keyOf, build);
  const drawPage = keyedChildren(page, keyOf, build);

  function update() {
    const notices = noticesOf(model.state, model.now());
    const pageNotices = notices.filter(({ isPage }) => isPage);
    drawBanners(notices.filter(({ isPage }) => !isPage));
    drawPage(pageNotices);
    page.hidden = pageNotices.length === 0 && model.state.place.repoUrl !== null;
    document.body.toggleAttribute('data-blank', !page.hidden);
  }
  return { update };
}
