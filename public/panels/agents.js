// The panel of agents: a row for each holder, and lines between holders that wait for each other.

import { keyedChildren, makeElement, setText } from '../app/dom.js';
import { nameOf } from '../app/holder.js';
import { noLocksSentence } from '../app/status_sentences.js';
import { agentRow } from './agent_row.js';
import { assignLanes, stableOrder, waitsAmong } from './conflicts.js';
import { panelHead } from './elements.js';
import { onTick } from './ticker.js';

/** @import { Agent, Model } from '../app/types.js' */

/** @param {HTMLElement} element @param {Model} model */
export function mountAgents(element, model) {
  const count = makeElement('span', { class: 'count' });
  const list = makeElement('ul', { class: 'agent-list' });
  const lines = makeElement('div', { 'aria-hidden': 'true' });
  const body = makeElement('div', { class: 'agent-body' }, lines, list);
  const nobody = makeElement('p');
  const advice = ['To connect an agent, run ', makeElement('code', {}, 'coord init'), ' in the repository. Help: '];
  const empty = makeElement('div', { class: 'empty' }, nobody,
    makeElement('p', {}, ...advice, makeElement('kbd', {}, '?')));
  element.classList.add('panel', 'agents');
  element.append(panelHead(['Agents ', count]), empty, body);

  const keyOf = (/** @type {Agent} */ { holder }) => holder;
  const renderRows = keyedChildren(list, keyOf, (agent) => agentRow(model, agent));
  let rows = renderRows([]);
  /** @type {string[]} */
  let order = [];
  /** @type {string | null} */
  let opened = null;

  function render() {
    const agents = stableOrder(order, model.state.agents);
    order = agents.map(({ holder }) => holder);
    rows = renderRows(agents);
    openSelected();
    setText(count, agents.length > 0 ? String(agents.length) : '');
    empty.hidden = agents.length > 0;
    renderNobody();
    body.hidden = agents.length === 0;
    drawLines();
  }

  /** Opens an agent that was selected elsewhere, or by the address, once. */
  function openSelected() {
    const { agent } = model.state.place;
    if (agent === opened) return;
    const row = agent === null ? undefined : rows.get(agent);
    if (agent !== null && !row) return;
    opened = agent;
    row?.open();
    row?.node.scrollIntoView({ block: 'nearest' });
  }

  function renderNobody() {
    const reason = noLocksSentence(model.state, model.now(), 'No agent holds a lock.');
    setText(nobody, `${reason} Agents appear here when they claim files.`);
  }

  function drawLines() {
    const waits = waitsAmong(model.state.agents);
    const bodyTop = waits.length > 0 ? body.getBoundingClientRect().top : 0;
    const spans = waits.flatMap((wait) => {
      const from = rows.get(wait.waiter);
      const to = rows.get(wait.holder);
      if (!from || !to) return [];
      const [start, end] = [from, to].map(({ badge }) => {
        const box = badge.getBoundingClientRect();
        return box.top + box.height / 2 - bodyTop;
      });
      return [{ wait, isWaiterFirst: start < end, top: Math.min(start, end), bottom: Math.max(start, end) }];
    });
    const lanes = assignLanes(spans);
    body.style.setProperty('--lanes', String(spans.length > 0 ? Math.max(...lanes) + 1 : 0));
    lines.replaceChildren(...spans.map(({ wait, isWaiterFirst, top, bottom }, index) => {
      const names = `${nameOf(model.state, wait.waiter)} waits for ${nameOf(model.state, wait.holder)}`;
      const line = makeElement('span', {
        class: `agent-line ${isWaiterFirst ? 'to-end' : 'to-start'}`,
        title: `${names}: ${wait.paths.join(', ')}`,
      });
      line.style.top = `${top}px`;
      line.style.height = `${bottom - top}px`;
      line.style.setProperty('--lane', String(lanes[index]));
      return line;
    }));
  }

  new ResizeObserver(drawLines).observe(list);
  onTick(() => {
    for (const row of rows.values()) row.tick(model.now());
  });
  const causes = /** @type {const} */ (['agents', 'locks', 'place', 'session', 'work']);
  model.subscribe((changed) => {
    if (causes.some((part) => changed.has(part))) render();
    else renderNobody();
  });
  render();
}
