// The panel of agents: a line for each holder, and lines between those that wait for each other.

import { keyedChildren, make, setText } from '../app/dom.js';
import { nameOf } from '../app/names.js';
import { nothingLocked } from '../app/truth.js';
import { agentRow } from './agent_row.js';
import { lanesOf, stableOrder, waitsAmong } from './conflicts.js';
import { everySecond } from './ticker.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').Agent} Agent */

/**
 * @param {HTMLElement} element
 * @param {Model} model
 */
export function mountAgents(element, model) {
  const count = make('span', { class: 'count' });
  const list = make('ul', { class: 'agent-list' });
  const lines = make('div', { class: 'agent-lines', 'aria-hidden': 'true' });
  const body = make('div', { class: 'agent-body' }, lines, list);
  const nobody = make('p', {});
  const empty = make('div', { class: 'empty' }, nobody,
    make('p', {}, 'To connect an agent, run ', make('code', {}, 'coord init'), ' in the repository. Help: ', make('kbd', {}, '?')));
  element.classList.add('panel', 'agents');
  element.append(make('div', { class: 'panel-head' }, make('h2', { class: 'panel-title' }, 'Agents ', count)), empty, body);

  /** @type {Map<string, ReturnType<typeof agentRow>>} */
  const rows = new Map();
  const renderRows = keyedChildren(list, (/** @type {Agent} */ agent) => agent.holder, (agent) => {
    const row = agentRow(model, agent);
    rows.set(agent.holder, row);
    return row;
  });
  /** @type {string[]} */
  let order = [];
  /** @type {string | null} */
  let opened = null;

  function render() {
    const agents = stableOrder(order, model.state.agents);
    order = agents.map(({ holder }) => holder);
    for (const holder of rows.keys()) if (!order.includes(holder)) rows.delete(holder);
    renderRows(agents);
    reveal();
    setText(count, agents.length > 0 ? String(agents.length) : '');
    empty.hidden = agents.length > 0;
    renderNobody();
    body.hidden = agents.length === 0;
    drawLines();
  }

  /** What was selected elsewhere, or by the address, is opened once. */
  function reveal() {
    const { agent } = model.state.place;
    if (agent === opened) return;
    const row = agent === null ? undefined : rows.get(agent);
    if (agent !== null && !row) return;
    opened = agent;
    row?.open();
    row?.node.scrollIntoView({ block: 'nearest' });
  }

  function renderNobody() {
    setText(nobody, `${nothingLocked(model.state, model.now(), 'No agent holds a lock.')} Agents appear here when they claim files.`);
  }

  function drawLines() {
    const waits = waitsAmong(model.state.agents);
    const top = waits.length > 0 ? body.getBoundingClientRect().top : 0;
    const drawn = waits.flatMap((wait) => {
      const from = rows.get(wait.waiter);
      const to = rows.get(wait.holder);
      if (!from || !to) return [];
      const ends = [from, to].map(({ badge }) => {
        const box = badge.getBoundingClientRect();
        return box.top + box.height / 2 - top;
      });
      return [{ wait, isWaiterFirst: ends[0] < ends[1], top: Math.min(...ends), bottom: Math.max(...ends) }];
    });
    const lanes = lanesOf(drawn);
    body.style.setProperty('--lanes', String(drawn.length > 0 ? Math.max(...lanes) + 1 : 0));
    lines.replaceChildren(...drawn.map(({ wait, isWaiterFirst, top: start, bottom }, index) => {
      const line = make('span', {
        class: `agent-line ${isWaiterFirst ? 'to-end' : 'to-start'}`,
        title: `${nameOf(model.state, wait.waiter)} waits for ${nameOf(model.state, wait.holder)}: ${wait.paths.join(', ')}`,
      });
      line.style.top = `${start}px`;
      line.style.height = `${bottom - start}px`;
      line.style.setProperty('--lane', String(lanes[index]));
      return line;
    }));
  }

  const observer = new ResizeObserver(drawLines);
  observer.observe(list);
  const endTicks = everySecond(() => {
    for (const row of rows.values()) row.tick(model.now());
  });
  const unsubscribe = model.subscribe((changed) => {
    if (changed.has('agents') || changed.has('locks') || changed.has('place') || changed.has('session') || changed.has('work')) render();
    else renderNobody();
  });
  render();
  return {
    destroy() {
      observer.disconnect();
      endTicks();
      unsubscribe();
    },
  };
}
