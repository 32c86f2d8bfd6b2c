// The map of the repository: what it shows, and when it draws. Its parts paint, place and measure.

import { filesOf } from '../app/intents.js';
import { byteSize, counted } from '../app/words.js';
import { Bar } from './bar.js';
import { Camera } from './camera.js';
import { summary } from './descriptions.js';
import { Drawing } from './drawing.js';
import { ALL_EDGES_LIMIT, edgeGroups } from './edge_groups.js';
import { matchesOf } from './filter.js';
import { widthsOf } from './label_text.js';
import { aspectFor, layoutOf } from './layout.js';
import { LockLights } from './lock_lights.js';
import { Minimap } from './minimap.js';
import { Motion } from './motion.js';
import { readPalette } from './palette.js';
import { Pointer } from './pointer.js';
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
/** A folder that takes this share of the view is what is looked at. */
const IN_VIEW = 0.7;

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

/** Languages that the legend names. */
const MOST_LANGUAGES = 4;

/** @param {import('../app/types.js').Graph} graph @returns {string[]} Those of most files, whose tints cells have. */
function languagesOf(graph) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { language } of graph.files) if (language) counts.set(language, (counts.get(language) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one).slice(0, MOST_LANGUAGES).map(([language]) => language);
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
    /** @type {string | null} The file that was just clicked: the view stays where it is. */
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
    /** @type {number[]} */
    this.connected = [];
    /** @type {number[]} Of the selected agent. */
    this.chosen = [];
    /** @type {string | null} */
    this.shownAgent = null;
    /** @type {number[]} Of the selected intent. */
    this.owned = [];
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
    this.minimap = new Minimap(this.stage, (anchor) => {
      this.motion.move((camera) => camera.moveTo(anchor, camera.width / 2, camera.height / 2));
    });
    this.pointer = new Pointer({
      motion: this.motion,
      drawing: this.drawing,
      tooltip: new Tooltip(this.stage),
      model,
      onHover: () => this.#request(),
      onSelect: (path) => this.#select(path),
      onOpen: (node) => this.goTo(this.tree && this.tree.file[node] >= 0 ? this.tree.parent[node] : node),
    });
    this.palette = readPalette(element);
    this.widths = widthsOf(`10px ${this.palette.font}`);
    this.boldWidths = widthsOf(`600 10px ${this.palette.font}`);

    const ending = new AbortController();
    const onMedia = (/** @type {string} */ query, /** @type {() => void} */ listener) => {
      window.matchMedia(query).addEventListener('change', listener, { signal: ending.signal });
    };
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)', 'print']) onMedia(query, () => this.#changeTheme());
    window.addEventListener('resize', () => this.#resize(), { signal: ending.signal });
    const observer = new ResizeObserver(() => this.#resize());
    observer.observe(this.stage);
    const unsubscribe = model.subscribe((changed) => this.#update(changed));
    this.destroy = () => {
      ending.abort();
      observer.disconnect();
      this.pointer.end();
      unsubscribe();
      this.motion.end();
      window.cancelAnimationFrame(this.frame);
      element.classList.remove('map-root');
      element.replaceChildren();
    };
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
    this.drawing.describe(summary(state, this.model.now()));
    if (isNewGraph || changed.has('intents') || changed.has('place')) this.#changeOwned();
    // A lock is lit in the frame that brought it, not in the next one.
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
    const { file, agent, filter } = this.model.state.place;
    if (this.shownFilter !== filter && this.tree) {
      this.shownFilter = filter;
      this.matches = matchesOf(this.tree, filter);
      this.drawing.forget();
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
    const { graph, tree, model: { state: { intents, place } } } = this;
    const files = graph && tree ? filesOf(intents, place.intent).map((path) => graph.indexOf.get(path)) : [];
    this.owned = files.flatMap((file) => (file === undefined || !tree ? [] : [tree.nodeOf[file]]));
    this.bar.showOwned(place.intent !== null && intents.phase === 'shown');
  }

  #changeEdges() {
    this.drawing.edges.forget();
    const { graph, tree } = this;
    if (!graph || !tree) return;
    const selected = this.selected < 0 ? -1 : tree.file[this.selected];
    this.edges = edgeGroups({
      graph, tree, palette: this.palette, locks: this.model.state.locks, selected, agent: this.shownAgent, hasAll: this.hasAllEdges,
    });
    const connected = selected < 0 ? [] : [...graph.imports[selected] ?? [], ...graph.importers[selected] ?? []];
    this.connected = connected.map((file) => tree.nodeOf[file]);
    const own = [...this.model.state.locks].filter(([, held]) => held.some(({ holder }) => holder === this.shownAgent));
    this.chosen = own.flatMap(([path]) => graph.indexOf.get(path) ?? []).map((file) => tree.nodeOf[file]);
    this.#request();
  }

  /** @param {Measure} measure */
  #measureBy(measure) {
    this.measure = measure;
    this.#changeLayout();
  }

  #changeTheme() {
    this.palette = readPalette(this.element);
    this.bar.showLanguages(this.graph ? languagesOf(this.graph) : [], this.palette);
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
    this.pointer.leave();
    this.motion.fly(anchor, scale);
  }

  /** Names the folder in view: the deepest one that fills most of it. */
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
    const inView = camera.scale === 1 ? 0 : foldersAbove(tree, node).findLast((folder) => folder === 0 || shareOf(folder) >= IN_VIEW) ?? 0;
    const all = { node: 0, name: 'All files' };
    this.bar.setCrumbs(inView === 0 ? [all] : [all, { node: inView, name: tree.path[inView] }]);
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
        ? graph.files[file].size > 0 ? byteSize(graph.files[file].size) : ''
        : counted(graph.importers[file]?.length ?? 0, 'importer')),
    });
    const lights = this.lights.current(now);
    const nodeOf = (/** @type {string} */ path) => {
      const file = graph.indexOf.get(path);
      return file === undefined ? -1 : tree.nodeOf[file];
    };
    const { selected, pointer: { hovered }, motion: { isMoving, isReduced } } = this;
    drawing.draw(scene, {
      edges: this.edges, connected: this.connected, chosen: this.chosen, owned: this.owned, lights, nodeOf, selected, hovered, isMoving, now: isReduced ? Infinity : now,
    });
    this.minimap.draw(camera, scene, lights.map(({ path, mark }) => ({ node: nodeOf(path), mark })).filter(({ node }) => node >= 0));
    this.bar.setZoom({ canZoomIn: camera.scale < camera.maxScale, canZoomOut: camera.scale > 1 });
    if (!isReduced && this.lights.isMoving(now)) this.#request();
  }
}
