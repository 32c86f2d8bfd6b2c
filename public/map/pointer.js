// What the pointer does on the map: pans and zooms, selects and opens, and says what is under it.

import { counted } from '../app/words.js';
import { fileLines } from './descriptions.js';
import { isClosed } from './detail.js';
import { listen } from './gestures.js';
import { nodeAt } from './placement.js';

/**
 * @typedef {object} PointerTarget
 * @property {import('./motion.js').Motion} motion
 * @property {import('./drawing.js').Drawing} drawing
 * @property {import('./tooltip.js').Tooltip} tooltip
 * @property {import('../app/types.js').Model} model
 * @property {() => void} onHover Another node is under the pointer.
 * @property {(path: string | null) => void} onSelect
 * @property {(node: number) => void} onOpen A folder, or a file that was clicked twice.
 */

export class Pointer {
  /** @param {PointerTarget} target */
  constructor(target) {
    this.target = target;
    /** Node under the pointer; -1 where there is none. */
    this.hovered = -1;
    this.position = { x: 0, y: 0 };
    const { drawing: { base: { canvas } }, drawing, motion } = target;
    const unlisten = listen(canvas, () => drawing.unit, {
      pan: (dx, dy) => motion.move((camera) => camera.panBy(dx, dy)),
      zoom: (factor, x, y) => {
        this.leave();
        motion.move((camera) => camera.zoomAt(factor, x, y));
      },
      click: (x, y) => this.#click(x, y),
      doubleClick: (x, y) => {
        const node = this.#nodeAt(x, y);
        if (node > 0) target.onOpen(node);
      },
      hover: (x, y) => {
        this.position = { x, y };
        const node = this.#nodeAt(x, y);
        if (node !== this.hovered) target.onHover();
        this.hovered = node;
        canvas.style.cursor = node > 0 ? 'pointer' : '';
        this.describe();
      },
      leave: () => {
        this.leave();
        target.onHover();
      },
    });
    // Locks count down.
    const timer = window.setInterval(() => this.describe(), 1000);
    this.end = () => {
      unlisten();
      window.clearInterval(timer);
    };
  }

  /** Nothing is under the pointer until it moves again: the map moved, or changed. */
  leave() {
    this.hovered = -1;
    this.target.tooltip.hide();
  }

  /** Says what is under the pointer. */
  describe() {
    const { motion: { camera }, model, tooltip, drawing: { unit } } = this.target;
    const { graph } = model.state;
    if (!camera || !graph || this.hovered <= 0) {
      tooltip.hide();
      return;
    }
    const { tree } = camera.layout;
    const file = tree.file[this.hovered];
    const path = tree.path[this.hovered];
    const content = file < 0
      ? { title: `${path}/`, lines: [counted(tree.fileCount[this.hovered], 'file')] }
      : { title: path, lines: fileLines(graph, file, model.state, model.now()) };
    tooltip.show(content, this.position.x * unit, this.position.y * unit);
  }

  /** @param {number} x @param {number} y */
  #click(x, y) {
    const { motion: { camera }, onSelect, onOpen } = this.target;
    const node = this.#nodeAt(x, y);
    if (!camera || node <= 0) onSelect(null);
    else if (camera.layout.tree.file[node] >= 0) onSelect(camera.layout.tree.path[node]);
    else onOpen(node);
  }

  /** The node as it is drawn: a closed folder hides its files. @param {number} x @param {number} y */
  #nodeAt(x, y) {
    const { camera } = this.target.motion;
    if (!camera) return -1;
    const { layout, placement } = camera;
    return nodeAt(layout, placement, x + camera.x, y + camera.y, (folder) => isClosed(layout.tree, placement, folder));
  }
}
