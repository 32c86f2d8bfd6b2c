// The small box beside the pointer. Screen readers skip it, because the table has the same content.

const DISTANCE_PX = 14;
const MARGIN_PX = 4;

export class Tooltip {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.parent = parent;
    this.root = document.createElement('div');
    this.root.className = 'map-tooltip';
    this.root.setAttribute('aria-hidden', 'true');
    this.root.hidden = true;
    parent.append(this.root);
  }

  /**
   * @param {{ title: string, lines: string[] }} content
   * @param {number} x
   * @param {number} y
   */
  show({ title, lines }, x, y) {
    const titleNode = document.createElement('strong');
    titleNode.textContent = title;
    const lineNodes = lines.map((line) => {
      const node = document.createElement('span');
      node.textContent = line;
      return node;
    });
    this.root.replaceChildren(titleNode, ...lineNodes);
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
