// The map of the repository: what it shows, and when it draws. Its parts paint, place and measure.

import { Bar } from './bar.js';
import { Camera } from './camera.js';
import { countText, fileLines, sizeText, summary } from './descriptions.js';
import { isClosed } from './detail.js';
import { Drawing } from './drawing.js';
import { ALL_EDGES_LIMIT, edgeGroups } from './edge_groups.js';
import { matchesOf } from './filter.js';
import { listen } from './gestures.js';
import { widthsOf } from './label_text.js';
import { aspectFor, layoutOf } from './layout.js';
import { LockLights } from './lock_lights.js';
import { Minimap } from './minimap.js';
import { Motion } from './motion.js';
import { readPalette } from './palette.js';
import { nodeAt } from './placement.js';
import { Tooltip } from './tooltip.js';
import { foldersAbove, treeOf } from './tree.js';
import { weightsOf } from './weights.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').Part} Part */
/** @typedef {import('./weights.js').Measure} Measure */

// A file that is brought into view is at least so wide and high, in pixels.
const GENTLE_SIDE = 18;
const FOCUS_SHARE = 0.22;
const FOLDER_SHARE = 0.96;

/**
 * Shows the map in an element.
 * @param {HTMLElement} element
 * @param {Model} model
 * @returns {{ zoomBy(factor: number): void, reset(): void, focusFile(path: string): void, destroy(): void }}
 */
export function mountMap(element, model) {
  const view = new MapView(element, model);
  return {
    zoomBy: (factor) => view.zoomBy(factor),
    reset: () => view.goTo(0),
    focusFile: (path) => view.focus(path),
    destroy: () => view.destroy(),
  };
}

class MapView {
  /** @param {HTMLElement} element @param {Model} model */
  constructor(element, model) {
    this.element = element;
    this.model = model;
    /** @type {Measure} */
    this.measure = 'size';
    this.hasAllEdges = false;
    this.selected = -1;
    this.hovered = -1;
    this.pointer = { x: 0, y: 0 };
    /** @type {string | null} The file that was just clicked: the view stays where it is. */
    this.clicked = null;
    /** @type {import('../app/types.js').Graph | null} */
    this.shownGraph = null;
    /** @type {import('./tree.js').Tree | null} */
    this.tree = null;
    /** @type {string | null} */
    this.shownFilter = null;
    /** @type {Int32Array | null} */
    this.matches = null;
    /** @type {import('./paint_edges.js').EdgeGroup[]} */
    this.edges = [];
    /** @type {number[]} */
    this.connected = [];
    this.lights = new LockLights();
    this.frame = 0;
    this.motion = new Motion(() => this.#request(), () => this.#showFolder());

    element.classList.add('map-root');
    this.bar = new Bar(element, {
      goTo: (node) => this.goTo(node),
      zoomBy: (factor) => this.zoomBy(factor),
      reset: () => this.goTo(0),
      measureBy: (measure) => this.#measureBy(measure),
      showAllEdges: (isOn) => {
        this.hasAllEdges = isOn;
        this.#changeEdges();
      },
    });
    this.stage = document.createElement('div');
    this.stage.className = 'map-stage';
    element.append(this.stage);
    this.drawing = new Drawing(this.stage);
    this.canvas = this.drawing.base.canvas;
    this.minimap = new Minimap(this.stage, (anchor) => {
      this.motion.move((camera) => camera.moveTo(anchor, camera.width / 2, camera.height / 2));
    });
    this.tooltip = new Tooltip(this.stage);
    this.palette = readPalette(element);
    this.widths = widthsOf(`10px ${this.palette.font}`);
    this.boldWidths = widthsOf(`600 10px ${this.palette.font}`);

    const ending = new AbortController();
    const onMedia = (/** @type {string} */ query, /** @type {() => void} */ listener) => {
      window.matchMedia(query).addEventListener('change', listener, { signal: ending.signal });
    };
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)', 'print']) onMedia(query, () => this.#changeTheme());
    const observer = new ResizeObserver(() => this.#resize());
    observer.observe(this.stage);
    const unlisten = this.#listen();
    const unsubscribe = model.subscribe((changed) => this.#update(changed));
    const tick = window.setInterval(() => this.#showTooltip(), 1000);
    this.destroy = () => {
      ending.abort();
      observer.disconnect();
      unlisten();
      unsubscribe();
      window.clearInterval(tick);
      this.motion.end();
      window.cancelAnimationFrame(this.frame);
      element.classList.remove('map-root');
      element.replaceChildren();
    };
    this.#update(new Set(/** @type {Part[]} */ (['graph', 'locks', 'place'])));
  }

  get camera() {
    return this.motion.camera;
  }

  get graph() {
    const { graph } = this.model.state;
    return graph && graph.files.length > 0 ? graph : null;
  }

  /** @param {number} factor */
  zoomBy(factor) {
    const { camera } = this;
    if (!camera) return;
    const anchor = camera.anchorAt(camera.width / 2, camera.height / 2);
    // Presses that follow one another add up, although the camera is still on its way.
    this.#fly(anchor, this.motion.scale * factor);
  }

  /** @param {number} node A folder, or a file: it fills the view. */
  goTo(node) {
    if (!this.camera) return;
    this.#fly({ node, u: 0.5, v: 0.5 }, node === 0 ? 1 : this.camera.scaleFor(node, FOLDER_SHARE));
  }

  /** @param {string} path Of a file or a folder. */
  focus(path) {
    const { camera, tree } = this;
    if (!camera || !tree) return;
    const file = this.graph?.indexOf.get(path);
    // The box of a folder has the path of the last one of several that hold nothing else.
    const node = file === undefined ? tree.path.findIndex((at) => at === path || at.startsWith(`${path}/`)) : tree.nodeOf[file];
    if (node < 0) return;
    this.#fly({ node, u: 0.5, v: 0.5 }, camera.scaleFor(node, file === undefined ? FOLDER_SHARE : FOCUS_SHARE));
  }

  /** @param {Set<Part>} changed */
  #update(changed) {
    const { state } = this.model;
    const isNewGraph = changed.has('graph') && this.shownGraph !== state.graph;
    if (isNewGraph) this.#changeGraph();
    if (changed.has('place')) this.#changePlace();
    if (isNewGraph || changed.has('locks')) this.#changeLocks();
    // A lock is lit in the frame that brought it, not in the next one.
    this.#draw();
  }

  #changeGraph() {
    const { graph } = this;
    if (this.shownGraph?.indexOf.size && graph && !graph.indexOf.has(this.shownGraph.files[0].path)) this.lights.clear();
    this.shownGraph = this.model.state.graph;
    this.hovered = -1;
    this.tree = graph ? treeOf(graph.files) : null;
    this.bar.offerAllEdges(graph !== null && graph.edgeCount > 0 && graph.edgeCount < ALL_EDGES_LIMIT);
    this.#changeLayout();
    this.shownFilter = null;
    this.#changePlace();
  }

  /** Makes the layout anew, and keeps in the middle what was there. */
  #changeLayout() {
    const { graph, tree, stage } = this;
    const before = this.camera;
    const { clientWidth, clientHeight } = stage;
    this.drawing.forget();
    if (!graph || !tree || clientWidth === 0 || clientHeight === 0) {
      this.motion.setCamera(null);
      return;
    }
    const { unit } = this.drawing;
    const [width, height] = [clientWidth / unit, clientHeight / unit];
    this.aspect = aspectFor(width, height);
    const camera = new Camera(layoutOf(tree, weightsOf(graph, this.measure), this.aspect), width, height);
    if (before && before.scale > 1) {
      const { node } = before.anchorAt(before.width / 2, before.height / 2);
      const kept = tree.path.indexOf(before.layout.tree.path[node]);
      camera.setScale(before.scale);
      if (kept > 0) camera.moveTo({ node: kept, u: 0.5, v: 0.5 }, width / 2, height / 2);
    }
    this.motion.setCamera(camera);
    this.#changeEdges();
  }

  #changePlace() {
    const { file, filter } = this.model.state.place;
    if (this.shownFilter !== filter && this.tree) {
      this.shownFilter = filter;
      this.matches = matchesOf(this.tree, filter);
      this.drawing.forget();
    }
    const index = file === null ? undefined : this.graph?.indexOf.get(file);
    const node = index === undefined || !this.tree ? -1 : this.tree.nodeOf[index];
    const isElsewhere = node !== this.selected && this.clicked !== file;
    this.clicked = null;
    if (node === this.selected) return;
    this.selected = node;
    this.#changeEdges();
    if (node >= 0 && isElsewhere) this.#bringIntoView(node);
  }

  #changeLocks() {
    const { locks, neighbors } = this.model.state;
    if (!this.graph) return;
    this.lights.update(locks, neighbors, performance.now());
    this.drawing.describe(summary(this.graph, locks));
    this.#changeEdges();
    this.#showTooltip();
  }

  #changeEdges() {
    this.drawing.edges.forget();
    const { graph, tree } = this;
    if (!graph || !tree) return;
    const selected = this.selected < 0 ? -1 : tree.file[this.selected];
    this.edges = edgeGroups({
      graph, tree, palette: this.palette, locks: this.model.state.locks, selected, hasAll: this.hasAllEdges,
    });
    const connected = selected < 0 ? [] : [...graph.imports[selected] ?? [], ...graph.importers[selected] ?? []];
    this.connected = connected.map((file) => tree.nodeOf[file]);
    this.#request();
  }

  /** @param {Measure} measure */
  #measureBy(measure) {
    this.measure = measure;
    this.#changeLayout();
  }

  #changeTheme() {
    this.palette = readPalette(this.element);
    this.minimap.forget();
    this.drawing.forget();
    this.#changeEdges();
    this.#draw();
  }

  #resize() {
    const { clientWidth, clientHeight } = this.stage;
    if (clientWidth === 0 || clientHeight === 0) return;
    const isChanged = this.drawing.resize(clientWidth, clientHeight);
    const { unit } = this.drawing;
    if (!this.camera || aspectFor(clientWidth, clientHeight) !== this.aspect) this.#changeLayout();
    else if (isChanged) this.camera.resize(clientWidth / unit, clientHeight / unit);
    // A canvas is empty after a change of its size: it is filled before the frame is shown.
    this.#draw();
  }

  /** @param {number} node */
  #bringIntoView(node) {
    const { camera } = this;
    if (!camera) return;
    const { x, y, w, h } = camera.boxOf(node);
    const [middleX, middleY] = [x + w / 2, y + h / 2];
    const isIn = middleX > 0 && middleY > 0 && middleX < camera.width && middleY < camera.height;
    const factor = Math.max(1, GENTLE_SIDE / Math.min(w, h));
    if (isIn && factor === 1) return;
    this.#fly({ node, u: 0.5, v: 0.5 }, camera.scale * Math.min(factor, 40));
  }

  /** @param {import('./placement.js').Anchor} anchor @param {number} scale */
  #fly(anchor, scale) {
    this.tooltip.hide();
    this.hovered = -1;
    this.motion.fly(anchor, scale);
  }

  /** Names the folder in view: the deepest one around the middle that fills most of it. */
  #showFolder() {
    const { camera, tree } = this;
    if (!camera || !tree) return;
    const { node } = camera.anchorAt(camera.width / 2, camera.height / 2);
    const { w, h } = camera.placement;
    const inView = foldersAbove(tree, node).filter((folder) => w[folder] >= camera.width * 0.8 || h[folder] >= camera.height * 0.8);
    this.bar.setCrumbs(inView.map((folder) => ({ node: folder, name: folder === 0 ? 'All files' : tree.name[folder] })));
  }

  #request() {
    this.frame ||= window.requestAnimationFrame(() => {
      this.frame = 0;
      this.#draw();
    });
  }

  #draw() {
    const { camera, graph, tree, drawing, stage } = this;
    if (stage.clientWidth === 0) return;
    if (!camera || !graph || !tree) {
      drawing.describe(summary(null, new Map()));
      drawing.clear(this.palette.color.ground);
      this.bar.setCrumbs([]);
      return;
    }
    const now = performance.now();
    this.motion.step(now);
    const scene = this.drawing.sceneOf(camera, {
      files: graph.files,
      palette: this.palette,
      widths: this.widths,
      boldWidths: this.boldWidths,
      matches: this.matches,
      detailOf: (file) => (this.measure === 'size' ? sizeText(graph.files[file].size) : countText(graph.importers[file]?.length ?? 0, 'importer')),
    });
    const lights = this.lights.current(now);
    const nodeOf = (/** @type {string} */ path) => {
      const file = graph.indexOf.get(path);
      return file === undefined ? -1 : tree.nodeOf[file];
    };
    const { selected, hovered, motion: { isMoving, isReduced } } = this;
    drawing.draw(scene, {
      edges: this.edges, connected: this.connected, lights, nodeOf, selected, hovered, isMoving, now: isReduced ? Infinity : now,
    });
    this.minimap.draw(camera, scene, lights.map(({ path, mark }) => ({ node: nodeOf(path), mark })).filter(({ node }) => node >= 0));
    this.bar.setZoom({ canZoomIn: camera.scale < camera.maxScale, canZoomOut: camera.scale > 1 });
    if (!isReduced && this.lights.isMoving(now)) this.#request();
  }

  #listen() {
    return listen(this.canvas, () => this.drawing.unit, {
      pan: (dx, dy) => this.motion.move((camera) => camera.panBy(dx, dy)),
      zoom: (factor, x, y) => {
        this.tooltip.hide();
        this.motion.move((camera) => camera.zoomAt(factor, x, y));
      },
      click: (x, y) => this.#click(x, y),
      doubleClick: (x, y) => {
        const node = this.#nodeAt(x, y);
        if (node > 0 && this.tree) this.goTo(this.tree.file[node] >= 0 ? this.tree.parent[node] : node);
      },
      hover: (x, y) => {
        this.pointer = { x, y };
        const node = this.#nodeAt(x, y);
        if (node !== this.hovered) this.#request();
        this.hovered = node;
        this.canvas.style.cursor = node > 0 ? 'pointer' : '';
        this.#showTooltip();
      },
      leave: () => {
        this.hovered = -1;
        this.tooltip.hide();
        this.#request();
      },
    });
  }

  /** @param {number} x @param {number} y */
  #click(x, y) {
    const { tree } = this;
    const node = this.#nodeAt(x, y);
    if (node <= 0 || !tree) {
      if (this.model.state.place.file) this.model.go({ file: null });
    } else if (tree.file[node] >= 0) {
      this.clicked = tree.path[node];
      this.model.go({ file: tree.path[node] });
    } else {
      this.goTo(node);
    }
  }

  /** @param {number} x @param {number} y The node in the view, as it is drawn; -1 where there is none. */
  #nodeAt(x, y) {
    const { camera, tree } = this;
    if (!camera || !tree) return -1;
    const { placement } = camera;
    return nodeAt(camera.layout, placement, x + camera.x, y + camera.y, (folder) => isClosed(tree, placement, folder));
  }

  #showTooltip() {
    const { graph, tree, hovered } = this;
    if (!graph || !tree || hovered <= 0) {
      this.tooltip.hide();
      return;
    }
    const file = tree.file[hovered];
    const { state } = this.model;
    const lines = file < 0 ? [countText(tree.fileCount[hovered], 'file')] : fileLines(graph, file, state, this.model.now());
    this.tooltip.show({ title: file < 0 ? `${tree.path[hovered]}/` : tree.path[hovered], lines }, this.pointer.x * this.drawing.unit, this.pointer.y * this.drawing.unit);
  }
}
