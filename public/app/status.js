// The state of the connection and of the graph in the top bar, and the same in sentences in a panel.

import { makeButton, makeElement, setText } from './dom.js';
import { connectionSentence, graphSentence, statusOf } from './status_sentences.js';

/** @param {HTMLElement} element @param {import('./types.js').Model} model @returns {{ update: () => void }} */
export function mountStatus(element, model) {
  const mark = makeElement('span', { class: 'status-mark', 'aria-hidden': 'true' });
  const label = makeElement('span', { class: 'status-label' });
  const more = makeElement('span', { class: 'status-more' });
  const graph = makeElement('span', { class: 'status-graph' }, 'graph stale');
  const bar = makeElement('progress', { class: 'status-bar', 'aria-hidden': 'true' });
  const button = makeButton({ class: 'status', popovertarget: 'status-panel' },
    mark, label, more, graph, bar);

  const connectionText = makeElement('p');
  const graphText = makeElement('p');
  const retry = makeButton({ onclick: () => model.retry() }, 'Try again now');
  const panel = makeElement('div', { id: 'status-panel', class: 'popover', popover: 'auto' },
    makeElement('h2', {}, 'State'), connectionText, graphText, retry);
  element.append(button, panel);
  panel.addEventListener('beforetoggle', update);

  function update() {
    const { state } = model;
    const now = model.now();
    const status = statusOf(state, now);
    element.hidden = status.kind === 'none';
    button.dataset.kind = status.kind;
    setText(label, status.label);
    setText(more, status.more);
    const isStale = state.graphState === 'stale';
    const { progress } = state;
    graph.hidden = !isStale;
    bar.hidden = !isStale || !progress || progress.wanted === 0;
    if (progress && !bar.hidden) {
      bar.max = progress.wanted;
      bar.value = progress.scanned;
    }
    setText(connectionText, connectionSentence(state, now));
    setText(graphText, graphSentence(state));
    retry.hidden = status.kind === 'live' || status.kind === 'connecting';
  }
  return { update };
}
