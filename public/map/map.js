// The map of the repository: its content, and when it draws. Other modules paint, place and measure.

import { makeElement } from '../app/dom.js';
import { formatBytes, formatCount } from '../app/formatting.js';
import { filesOf } from '../app/intents.js';
import { Bar } from './bar.js';
import { Camera } from './camera.js';
import { mapSummary } from './descriptions.js';
import { Drawing } from './drawing.js';
import { ALL_EDGES_LIMIT, edgeGroups } from './edge_groups.js';
import { countMatches } from './filter.js';
import { measureFont } from './label_text.js';
import { aspectFor, layoutOf } from './layout.js';
import { LockLights } from './lock_lights.js';
import { Minimap } from './minimap.js';
import { Motion } from './motion.js';
import { readPalette } from './palette.js';
import { Pointer } from './pointer.js';
import { Tooltip } from './tooltip.js';
import { foldersAbove, treeOf } from './tree.js';
import { weightsOf } from './weights.js';

/** @import { Model, Part } from '../app/types.js' */
/** @import { Measure } from './weights.js' */

/** Minimum length of a file's shorter side after the map brought it into view, in pixels. */
const MIN_SIDE = 18;
/** Shares of the view that a file and a folder get when the map zooms to them. */
const FILE_SHARE = 0.22;
const FOLDER_SHARE = 0.96;
/** A folder that takes this share of the view is the folder in view. */
const IN_VIEW = 0.7;
const MAX_ZOOM_FACTOR = 40;
/** Maximum number of languages in the legend. */
const MAX_LANGUAGES = 4;

/**
 * Shows the map in an element.
 * @param {HTMLElement} element
 * @param {Model} model
 * @returns {{ zoomBy(factor: number): void, reset(): void, focusFile(path: string): void }}
 */
export function mountMap(element, model) {
  const view = new MapView(element, model);
  return {
    zoomBy: (factor) => view.zoomBy(factor),
    reset: () => view.goTo(0),
    focusFile: (path) => view.focus(path),
  };
}

/** @param {import('../app/types.js').Graph} graph @returns {string[]} The languages with the most files. */
function languagesOf(graph) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { language } of graph.files) if (language) counts.set(language, (counts.get(language) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.slice(0, MAX_LANGUAGES).map(([language]) => language);
}

class MapView {
  /** @param {HTMLElement} element @param {Model} model */
  constructor(element, model) {
    this.element = element;
    this.model = model;
    /** @type {Measure} */
    this.measure = 'size';
    this.showsAllEdges = false;
    /** Node of the selected file; -1 without one. */
    this.selected = -1;
    /** @type {string | null} The file that the user has just clicked: it is in view already. */
    this.clicked = null;
    /** @type {string | null} */
    this.shownFile = null;
    this.shownRepository = '';
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
    /** @type {number[]} Nodes of the files that the selected file imports or that import it. */
    this.connectedNodes = [];
    /** @type {number[]} Nodes of the files that the selected agent has locked. */
    this.agentNodes = [];
    /** @type {string | null} */
    this.shownAgent = null;
    /** @type {number[]} Nodes of the files that the selected intent owns. */
    this.ownedNodes = [];
    this.lights = new LockLights();
    this.frame = 0;
    this.motion = new Motion(() => this.#requestDraw(), () => this.#showFolder());

    element.classList.add('map-root');
    this.bar = new Bar(element, {
      goTo: (node) => this.goTo(node),
      zoomBy: (factor) => this.zoomBy(factor),
      reset: () => this.goTo(0),
      measureBy: (measure) => this.#measureBy(measure),
      showAllEdges: (isOn) => {
        this.showsAllEdges = isOn;
        this.#changeEdges();
      },
    });
    this.stage = makeElement('div', { class: 'map-stage' });
    element.append(this.stage);
    this.drawing = new Drawing(this.stage);
    this.minimap = new Minimap(this.stage, (anchor) => {
      this.motion.move((camera) => camera.moveTo(anchor, camera.width / 2, camera.height / 2));
    });
    this.pointer = new Pointer({
      motion: this.motion,
      drawing: this.drawing,
      tooltip: new Tooltip(this.stage),
      model,
      onHover: () => this.#requestDraw(),
      onSelect: (path) => this.#select(path),
      onOpen: (node) => this.goTo(this.tree && this.tree.file[node] >= 0 ? this.tree.parent[node] : node),
    });
    this.palette = readPalette(element);
    this.widths = measureFont(`10px ${this.palette.font}`);
    this.boldWidths = measureFont(`600 10px ${this.palette.font}`);

    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)', 'print']) {
      window.matchMedia(query).addEventListener('change', () => this.#changeTheme());
    }
    window.addEventListener('resize', () => this.#resize());
    new ResizeObserver(() => this.#resize()).observe(this.stage);
    model.subscribe((changed) => this.#update(changed));
    this.drawing.resize(this.stage.clientWidth, this.stage.clientHeight);
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
    // Repeated clicks add up, even while the camera is moving.
    this.#fly(anchor, this.motion.scale * factor);
  }

  /** Zooms until a folder or a file fills the view. @param {number} node */
  goTo(node) {
    if (!this.camera) return;
    this.#fly({ node, u: 0.5, v: 0.5 }, node === 0 ? 1 : this.camera.scaleFor(node, FOLDER_SHARE));
  }

  /** @param {string} path Of a file or a folder. */
  focus(path) {
    const { camera, tree } = this;
    if (!camera || !tree) return;
    const file = this.graph?.indexOf.get(path);
    // A box of nested folders has the path of the innermost one.
    const isInside = (/** @type {string} */ nodePath) => nodePath === path || nodePath.startsWith(`${path}/`);
    const node = file === undefined ? tree.path.findIndex(isInside) : tree.nodeOf[file];
    if (node < 0) return;
    this.#fly({ node, u: 0.5, v: 0.5 }, camera.scaleFor(node, file === undefined ? FOLDER_SHARE : FILE_SHARE));
  }

  /** @param {Set<Part>} changed */
  #update(changed) {
    const { state } = this.model;
    const isNewGraph = changed.has('graph') && this.shownGraph !== state.graph;
    if (isNewGraph) this.#changeGraph();
    if (changed.has('place')) this.#changePlace();
    if (isNewGraph || changed.has('locks')) this.#changeLocks();
    this.drawing.describe(mapSummary(state, this.model.now()));
    if (isNewGraph || changed.has('intents') || changed.has('place')) this.#changeOwned();
    // Draws now, so that a new lock shows in this frame.
    this.#draw();
  }

  #changeGraph() {
    const { graph } = this;
    const { repoUrl, branch } = this.model.state.place;
    const repository = `${repoUrl} ${branch}`;
    if (repository !== this.shownRepository) {
      this.lights.clear();
      this.motion.setCamera(null);
    }
    this.shownRepository = repository;
    this.shownGraph = this.model.state.graph;
    this.pointer.leave();
    this.selected = -1;
    this.tree = graph ? treeOf(graph.files) : null;
    this.bar.showLanguages(graph ? languagesOf(graph) : [], this.palette);
    this.bar.offerAllEdges(graph !== null && graph.edgeCount > 0 && graph.edgeCount < ALL_EDGES_LIMIT);
    this.#changeLayout();
    this.shownFilter = null;
    this.#changePlace();
  }

  /** Computes the layout, and keeps the file in the middle of the view where it is. */
  #changeLayout() {
    const { graph, tree, stage } = this;
    const before = this.camera;
    const { clientWidth, clientHeight } = stage;
    this.drawing.invalidate();
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
      const sameNode = tree.path.indexOf(before.layout.tree.path[node]);
      camera.setScale(before.scale);
      if (sameNode > 0) camera.moveTo({ node: sameNode, u: 0.5, v: 0.5 }, width / 2, height / 2);
    }
    this.motion.setCamera(camera);
    this.#changeEdges();
  }

  #changePlace() {
    const { file, agent, filter } = this.model.state.place;
    if (this.shownFilter !== filter && this.tree) {
      this.shownFilter = filter;
      this.matches = countMatches(this.tree, filter);
      this.drawing.invalidate();
    }
    if (!this.tree) return;
    if (agent !== this.shownAgent) {
      this.shownAgent = agent;
      this.#changeEdges();
    }
    const index = file === null ? undefined : this.graph?.indexOf.get(file);
    const node = index === undefined ? -1 : this.tree.nodeOf[index];
    const isFromElsewhere = file !== this.shownFile && file !== this.clicked;
    this.shownFile = file;
    this.clicked = null;
    if (node === this.selected) return;
    this.selected = node;
    this.#changeEdges();
    if (node >= 0 && isFromElsewhere) this.#bringIntoView(node);
  }

  /** @param {string | null} path */
  #select(path) {
    if (path === this.model.state.place.file) return;
    this.clicked = path;
    this.model.go({ file: path });
  }

  #changeLocks() {
    const { locks, neighbors, blocked } = this.model.state;
    if (!this.graph) return;
    this.lights.update(locks, neighbors, blocked, performance.now());
    this.#changeEdges();
    this.pointer.describe();
  }

  #changeOwned() {
    const { intents, place } = this.model.state;
    this.ownedNodes = this.#nodesOf(filesOf(intents, place.intent));
    this.bar.showOwned(place.intent !== null && intents.phase === 'shown');
  }

  /** @param {string[]} paths @returns {number[]} The nodes of those that are in the graph. */
  #nodesOf(paths) {
    const { graph, tree } = this;
    if (!graph || !tree) return [];
    return paths.flatMap((path) => graph.indexOf.get(path) ?? []).map((file) => tree.nodeOf[file]);
  }

  #changeEdges() {
    this.drawing.edges.invalidate();
    const { graph, tree, palette } = this;
    if (!graph || !tree) return;
    const { locks } = this.model.state;
    const selected = this.selected < 0 ? -1 : tree.file[this.selected];
    this.edges = edgeGroups({
      graph, tree, palette, locks, selected, agent: this.shownAgent, hasAll: this.showsAllEdges,
    });
    const connected = selected < 0 ? [] : [...graph.imports[selected] ?? [], ...graph.importers[selected] ?? []];
    this.connectedNodes = connected.map((file) => tree.nodeOf[file]);
    const isOfAgent = (/** @type {import('../app/types.js').Lock} */ { holder }) => holder === this.shownAgent;
    const agentLocks = [...locks].filter(([, pathLocks]) => pathLocks.some(isOfAgent));
    this.agentNodes = this.#nodesOf(agentLocks.map(([path]) => path));
    this.#requestDraw();
  }

  /** @param {Measure} measure */
  #measureBy(measure) {
    this.measure = measure;
    this.#changeLayout();
  }

  #changeTheme() {
    this.palette = readPalette(this.element);
    this.bar.showLanguages(this.graph ? languagesOf(this.graph) : [], this.palette);
    this.minimap.invalidate();
    this.drawing.invalidate();
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
    // A change of its size empties a canvas, so the map draws before the browser shows the frame.
    this.#draw();
  }

  /** @param {number} node */
  #bringIntoView(node) {
    const { camera } = this;
    if (!camera) return;
    const { x, y, w, h } = camera.boxOf(node);
    const [middleX, middleY] = [x + w / 2, y + h / 2];
    const isInView = middleX > 0 && middleY > 0 && middleX < camera.width && middleY < camera.height;
    const factor = Math.max(1, MIN_SIDE / Math.min(w, h));
    if (isInView && factor === 1) return;
    this.#fly({ node, u: 0.5, v: 0.5 }, camera.scale * Math.min(factor, MAX_ZOOM_FACTOR));
  }

  /** @param {import('./placement.js').Anchor} anchor @param {number} scale */
  #fly(anchor, scale) {
    this.pointer.leave();
    this.motion.fly(anchor, scale);
  }

  /** Shows the folder in view in the bar: the deepest folder that fills most of the view. */
  #showFolder() {
    const { camera, tree } = this;
    if (!camera || !tree) return;
    const { node } = camera.anchorAt(camera.width / 2, camera.height / 2);
    const shareOf = (/** @type {number} */ folder) => {
      const { x, y, w, h } = camera.boxOf(folder);
      const width = Math.min(x + w, camera.width) - Math.max(x, 0);
      const height = Math.min(y + h, camera.height) - Math.max(y, 0);
      return (Math.max(0, width) * Math.max(0, height)) / (camera.width * camera.height);
    };
    const isInView = (/** @type {number} */ folder) => folder === 0 || shareOf(folder) >= IN_VIEW;
    const folderInView = camera.scale === 1 ? 0 : foldersAbove(tree, node).findLast(isInView) ?? 0;
    const root = { node: 0, name: 'All files' };
    this.bar.setCrumbs(folderInView === 0 ? [root] : [root, { node: folderInView, name: tree.path[folderInView] }]);
  }

  #requestDraw() {
    this.frame ||= window.requestAnimationFrame(() => {
      this.frame = 0;
      this.#draw();
    });
  }

  #draw() {
    const { camera, graph, tree, drawing, stage } = this;
    if (stage.clientWidth === 0) return;
    if (!camera || !graph || !tree) {
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
      detailOf: (file) => (this.measure === 'size'
        ? graph.files[file].size > 0 ? formatBytes(graph.files[file].size) : ''
        : formatCount(graph.importers[file]?.length ?? 0, 'importer')),
    });
    const lights = this.lights.current(now);
    const nodeOf = (/** @type {string} */ path) => {
      const file = graph.indexOf.get(path);
      return file === undefined ? -1 : tree.nodeOf[file];
    };
    const { edges, selected, connectedNodes, agentNodes, ownedNodes } = this;
    const { hovered } = this.pointer;
    const { isMoving, isReduced } = this.motion;
    drawing.draw(scene, {
      edges, lights, nodeOf, selected, hovered, connectedNodes, agentNodes, ownedNodes, isMoving,
      now: isReduced ? Infinity : now,
    });
    const marks = lights.map(({ path, mark }) => ({ node: nodeOf(path), mark })).filter(({ node }) => node >= 0);
    this.minimap.draw(camera, scene, marks);
    this.bar.setZoom({ canZoomIn: camera.scale < camera.maxScale, canZoomOut: camera.scale > 1 });
    if (!isReduced && this.lights.isMoving(now)) this.#requestDraw();
  }
}
