// The small box beside the pointer. Screen readers skip it, because the table has the same content.

import { makeElement } from '../app/dom.js';

const DISTANCE_PX = 14;
const MARGIN_PX = 4;

export class Tooltip {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.parent = parent;
    this.root = makeElement('div', { class: 'map-tooltip', 'aria-hidden': 'true', hidden: true });
    parent.append(this.root);
  }

  /** @param {{ title: string, lines: string[] }} content @param {number} x @param {number} y */
  show({ title, lines }, x, y) {
    this.root.replaceChildren(makeElement('strong', {}, title), ...lines.map((line) => makeElement('span', {}, line)));
    this.root.hidden = false;
    const { clientWidth, clientHeight } = this.parent;
    const { offsetWidth, offsetHeight } = this.root;
    const [right, below] = [x + DISTANCE_PX, y + DISTANCE_PX];
    const left = right + offsetWidth > clientWidth ? x - DISTANCE_PX - offsetWidth : right;
    const top = below + offsetHeight > clientHeight ? y - DISTANCE_PX - offsetHeight : below;
    this.root.style.left = `${Math.max(MARGIN_PX, Math.min(left, clientWidth - offsetWidth - MARGIN_PX))}px`;
    this.root.style.top = `${Math.max(MARGIN_PX, top)}px`;
  }

  hide() {
    this.root.hidden = true;
  }
}
