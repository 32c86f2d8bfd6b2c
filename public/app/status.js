// The state of the connection and of the graph in the top bar, and the same in sentences in a panel.

import { make, setText } from './dom.js';
import { connectionSentence, graphSentence, statusOf } from './truth.js';

/**
 * @param {HTMLElement} element
 * @param {import('./types.js').Model} model
 * @returns {{ update: () => void }}
 */
export function mountStatus(element, model) {
  const mark = make('span', { class: 'status-mark', 'aria-hidden': 'true' });
  const label = make('span', { class: 'status-label' });
  const more = make('span', { class: 'status-more' });
  const graph = make('span', { class: 'status-graph' }, 'graph stale');
  const bar = /** @type {HTMLProgressElement} */ (make('progress', { class: 'status-bar', 'aria-hidden': 'true' }));
  const button = make('button', { type: 'button', class: 'status', popovertarget: 'status-panel' },
    mark, label, more, graph, bar);

  const connectionText = make('p', {});
  const graphText = make('p', {});
  const retry = make('button', { type: 'button', onclick: () => model.retry() }, 'Try again now');
  const panel = make('div', { id: 'status-panel', class: 'popover', popover: 'auto' },
    make('h2', {}, 'State'), connectionText, graphText, retry);
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
