// The small box beside the pointer. What it says stands in the table too, so it is not read aloud.

const AWAY_PX = 14;

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
    const path = document.createElement('strong');
    path.textContent = title;
    const rest = lines.map((line) => {
      const made = document.createElement('span');
      made.textContent = line;
      return made;
    });
    this.root.replaceChildren(path, ...rest);
    this.root.hidden = false;
    const { clientWidth, clientHeight } = this.parent;
    const { offsetWidth, offsetHeight } = this.root;
    const left = x + AWAY_PX + offsetWidth > clientWidth ? x - AWAY_PX - offsetWidth : x + AWAY_PX;
    const top = y + AWAY_PX + offsetHeight > clientHeight ? y - AWAY_PX - offsetHeight : y + AWAY_PX;
    this.root.style.left = `${Math.max(4, Math.min(left, clientWidth - offsetWidth - 4))}px`;
    this.root.style.top = `${Math.max(4, top)}px`;
  }

  hide() {
    this.root.hidden = true;
  }
}
