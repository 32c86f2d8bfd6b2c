// The pointer on the map: it pans and zooms, selects and opens, and describes the file under it.

import { formatCount } from '../app/formatting.js';
import { fileLines } from './descriptions.js';
import { listenForGestures } from './gestures.js';
import { isClosed, nodeAt } from './placement.js';

/**
 * @typedef {object} PointerTarget
 * @property {import('./motion.js').Motion} motion
 * @property {import('./drawing.js').Drawing} drawing
 * @property {import('./tooltip.js').Tooltip} tooltip
 * @property {import('../app/types.js').Model} model
 * @property {() => void} onHover Called when another node is under the pointer.
 * @property {(path: string | null) => void} onSelect
 * @property {(node: number) => void} onOpen Gets a folder, or a file that was double-clicked.
 */

export class Pointer {
  /** @param {PointerTarget} target */
  constructor(target) {
    this.target = target;
    /** Node under the pointer; -1 without one. */
    this.hovered = -1;
    this.position = { x: 0, y: 0 };
    const { drawing, motion } = target;
    const { canvas } = drawing.base;
    listenForGestures(canvas, () => drawing.unit, {
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
    // The description counts down the time of a lock.
    window.setInterval(() => this.describe(), 1000);
  }

  /** Forgets the node under the pointer until the pointer moves again: the map has moved or changed. */
  leave() {
    this.hovered = -1;
    this.target.tooltip.hide();
  }

  /** Describes the node under the pointer. */
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
      ? { title: `${path}/`, lines: [formatCount(tree.fileCount[this.hovered], 'file')] }
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

  /** The node as the map draws it: a closed folder hides its files. @param {number} x @param {number} y */
  #nodeAt(x, y) {
    const { camera } = this.target.motion;
    if (!camera) return -1;
    const { layout, placement } = camera;
    return nodeAt(layout, placement, x + camera.x, y + camera.y, (folder) => isClosed(layout.tree, placement, folder));
  }
}
