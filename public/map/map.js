// The map of the repository: what it shows, and when it draws. Its parts paint, place and measure.

import { Bar } from './bar.js';
import { Camera, flight } from './camera.js';
import { countText, fileLines, sizeText, summary } from './descriptions.js';
import { isClosed } from './detail.js';
import { Drawing } from './drawing.js';
import { ALL_EDGES_LIMIT, edgeGroups } from './edge_groups.js';
import { matchesOf } from './filter.js';
import { listen } from './gestures.js';
import { TextWidths } from './label_text.js';
import { aspectFor, layoutOf } from './layout.js';
import { LockLights } from './lock_lights.js';
import { Minimap } from './minimap.js';
import { readPalette } from './palette.js';
import { nodeAt } from './placement.js';
import { Tooltip } from './tooltip.js';
import { foldersAbove, treeOf } from './tree.js';
import { weightsOf } from './weights.js';

/** @typedef {import('../app/types.js').Model} Model */
/** @typedef {import('../app/types.js').Part} Part */
/** @typedef {import('./weights.js').Measure} Measure */

const FLIGHT_MS = 280;
// The camera rests when it has not moved for so long.
const REST_MS = 140;
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
    this.lights = new LockLights();
    this.frame = 0;
    this.isMoving = false;
    this.restTimer = 0;
    /** @type {{ at: number, go: (share: number) => void } | null} */
    this.flight = null;

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
    this.minimap = new Minimap(this.stage, (anchor) => {
      this.#move((camera) => camera.moveTo(anchor, camera.width / 2, camera.height / 2));
    });
    this.tooltip = new Tooltip(this.stage);
    this.palette = readPalette(element);
    this.#measureText();

    const ending = new AbortController();
    const onMedia = (/** @type {string} */ query, /** @type {() => void} */ listener) => {
      window.matchMedia(query).addEventListener('change', listener, { signal: ending.signal });
    };
    onMedia('(prefers-color-scheme: dark)', () => this.#changeTheme());
    onMedia('(forced-colors: active)', () => this.#changeTheme());
    this.motion = window.matchMedia('(prefers-reduced-motion: reduce)');
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
      window.clearTimeout(this.restTimer);
      window.cancelAnimationFrame(this.frame);
      element.classList.remove('map-root');
      element.replaceChildren();
    };
    this.#update(new Set(/** @type {Part[]} */ (['graph', 'locks', 'place'])));
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
    const from = this.flight && this.flightScale ? this.flightScale : camera.scale;
    this.#fly(anchor, from * factor);
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
    const node = file === undefined ? tree.path.lastIndexOf(path, tree.count - 1) : tree.nodeOf[file];
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
    this.shownFilter = undefined;
    this.#changePlace();
  }

  /** Makes the layout anew, and keeps in the middle what was there. */
  #changeLayout() {
    const { graph, tree, stage } = this;
    const before = this.camera;
    this.camera = null;
    this.drawing.forget();
    if (!graph || !tree || stage.clientWidth === 0 || stage.clientHeight === 0) return;
    this.aspect = aspectFor(stage.clientWidth, stage.clientHeight);
    const layout = layoutOf(tree, weightsOf(graph, this.measure), this.aspect);
    this.camera = new Camera(layout, stage.clientWidth, stage.clientHeight);
    if (before && before.scale > 1) {
      const { node } = before.anchorAt(before.width / 2, before.height / 2);
      const kept = tree.path.indexOf(before.layout.tree.path[node]);
      this.camera.setScale(before.scale);
      if (kept > 0) this.camera.moveTo({ node: kept, u: 0.5, v: 0.5 }, before.width / 2, before.height / 2);
    }
    this.flight = null;
    this.#changeEdges();
    this.#rest();
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
    this.#measureText();
    this.minimap.forget();
    this.drawing.forget();
    this.#changeEdges();
    this.#draw();
  }

  #measureText() {
    const context = document.createElement('canvas').getContext('2d');
    if (!context) return;
    const widths = (/** @type {string} */ font) => {
      context.font = font;
      return new TextWidths((text) => context.measureText(text).width);
    };
    this.widths = widths(`10px ${this.palette.font}`);
    this.boldWidths = widths(`600 10px ${this.palette.font}`);
  }

  #resize() {
    const { clientWidth, clientHeight } = this.stage;
    if (clientWidth === 0 || clientHeight === 0) return;
    const isChanged = this.drawing.resize(clientWidth, clientHeight);
    if (!this.camera || aspectFor(clientWidth, clientHeight) !== this.aspect) this.#changeLayout();
    else if (isChanged) this.camera.resize(clientWidth, clientHeight);
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
    const { camera } = this;
    if (!camera) return;
    this.tooltip.hide();
    this.hovered = -1;
    const go = flight(camera, anchor, scale);
    this.flightScale = Math.min(camera.maxScale, Math.max(1, scale));
    if (this.motion.matches) {
      go(1);
      this.#moved();
    } else {
      this.flight = { at: performance.now(), go };
      this.#request();
    }
  }

  /** @param {(camera: Camera) => void} change */
  #move(change) {
    if (!this.camera) return;
    this.flight = null;
    change(this.camera);
    this.#moved();
  }

  #moved() {
    this.isMoving = true;
    window.clearTimeout(this.restTimer);
    this.restTimer = window.setTimeout(() => this.#rest(), REST_MS);
    this.#request();
  }

  #rest() {
    this.isMoving = false;
    const { camera, tree } = this;
    if (!camera || !tree) return;
    const { node } = camera.anchorAt(camera.width / 2, camera.height / 2);
    const { w, h } = camera.placement;
    // The folder in view: the deepest one around the middle that fills most of it.
    const inView = foldersAbove(tree, node).filter((folder) => w[folder] >= camera.width * 0.8 || h[folder] >= camera.height * 0.8);
    this.bar.setCrumbs(inView.map((folder) => ({ node: folder, name: folder === 0 ? 'All files' : tree.name[folder] })));
    this.#request();
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
    if (this.flight) {
      const share = Math.min(1, (now - this.flight.at) / FLIGHT_MS);
      this.flight.go(share);
      if (share === 1) this.flight = null;
      this.#moved();
    }
    const scene = this.#scene(camera, graph);
    const lights = this.lights.current(now);
    const nodeOf = (/** @type {string} */ path) => {
      const file = graph.indexOf.get(path);
      return file === undefined ? -1 : tree.nodeOf[file];
    };
    const { selected, hovered, isMoving } = this;
    const stillNow = this.motion.matches ? Infinity : now;
    drawing.draw(scene, {
      edges: this.edges ?? [], connected: this.connected ?? [], lights, nodeOf, selected, hovered, isMoving, now: stillNow,
    });
    this.minimap.draw(camera, scene, lights.map(({ path, mark }) => ({ node: nodeOf(path), mark })).filter(({ node }) => node >= 0));
    this.bar.setZoom({ canZoomIn: camera.scale < camera.maxScale, canZoomOut: camera.scale > 1 });
    if (!this.motion.matches && this.lights.isMoving(now)) this.#request();
  }

  /** @param {Camera} camera @param {import('../app/types.js').Graph} graph @returns {import('./scene.js').Scene} */
  #scene(camera, graph) {
    const { dpr } = this.drawing;
    const { width, height } = this.drawing.base.canvas;
    const detailOf = this.measure === 'size'
      ? (/** @type {number} */ file) => sizeText(graph.files[file].size)
      : (/** @type {number} */ file) => countText(graph.importers[file]?.length ?? 0, 'importer');
    return {
      layout: camera.layout,
      placement: camera.placement,
      files: graph.files,
      palette: this.palette,
      widths: /** @type {TextWidths} */ (this.widths),
      boldWidths: /** @type {TextWidths} */ (this.boldWidths),
      detailOf,
      matches: this.matches ?? null,
      scale: camera.scale,
      dpr,
      ox: -Math.round(camera.x * dpr),
      oy: -Math.round(camera.y * dpr),
      width,
      height,
    };
  }

  #listen() {
    return listen(this.stage, {
      pan: (dx, dy) => this.#move((camera) => camera.panBy(dx, dy)),
      zoom: (factor, x, y) => {
        this.tooltip.hide();
        this.#move((camera) => camera.zoomAt(factor, x, y));
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
        this.stage.style.cursor = node > 0 ? 'pointer' : '';
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
    this.tooltip.show({ title: file < 0 ? `${tree.path[hovered]}/` : tree.path[hovered], lines }, this.pointer.x, this.pointer.y);
  }
}
