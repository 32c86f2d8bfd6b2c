// The page that is measured: the map alone, over a model without a server.

import { emptyIntents } from '/app/intents.js';
import { neighborsOf } from '/app/neighbors.js';
import { mountMap } from '/map/map.js';
import { locksOf, repositoryOf } from './repositories.js';

/** @typedef {import('../../../public/app/types.js').Part} Part */

const listeners = new Set();
const state = {
  place: { repoUrl: null, branch: null, file: null, agent: null, intent: null, view: 'map', filter: '' },
  graph: null,
  graphState: 'none',
  locks: new Map(),
  locksReadAt: 0,
  areLocksMissed: false,
  shownAt: 0,
  connection: { phase: 'live', isLate: false },
  problem: null,
  neighbors: new Map(),
  blocked: new Set(),
  hasSeveralLogins: true,
  intents: emptyIntents(),
};

const model = {
  state,
  subscribe(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  go(change) {
    state.place = { ...state.place, ...change };
    notify('place');
  },
  now: () => Date.now(),
};

/** @param {...Part} parts */
function notify(...parts) {
  for (const listener of listeners) listener(new Set(parts));
}

/** @param {Map<string, import('../../../public/app/types.js').Lock[]>} locks */
function lock(locks) {
  const neighbors = neighborsOf(state.graph, locks);
  Object.assign(state, { locks, neighbors, blocked: new Set(neighbors.keys()) });
  notify('locks');
}

/** Ends when what was drawn has been handed to the compositor. */
function painted() {
  return new Promise((resolve) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(performance.now());
    port2.postMessage(null);
  }));
}

const bench = {
  model,
  map: /** @type {ReturnType<typeof mountMap> | null} */ (null),

  /** Milliseconds from having the files to the map on the screen. */
  async firstPaint(count) {
    const graph = repositoryOf(count);
    const start = performance.now();
    bench.map = mountMap(document.getElementById('map'), model);
    Object.assign(state, { graph, graphState: 'ready' });
    notify('graph', 'locks', 'place');
    const scripted = performance.now() - start;
    return { scripted, painted: (await painted()) - start, files: graph.files.length, edges: graph.edgeCount };
  },

  setLocks(count) {
    lock(locksOf(state.graph, count, Date.now()));
  },

  /** Milliseconds from a change of the locks to its pixels: drawn, and handed to the compositor. */
  async lockLit() {
    const marks = document.querySelector('.map-marks');
    const dark = marks.toDataURL();
    const start = performance.now();
    const all = locksOf(state.graph, state.locks.size + 1, Date.now(), 9);
    const [path, held] = [...all].find(([path]) => !state.locks.has(path));
    lock(new Map([...state.locks, [path, held]]));
    const drawn = performance.now() - start;
    const lit = (await painted()) - start;
    if (marks.toDataURL() === dark) throw new Error(`The lock on ${path} is not on the map`);
    return { path, drawn, painted: lit };
  },

  /** Times between frames while `step` is called before each, for some milliseconds. */
  async frames(duration, step) {
    const times = [];
    const start = performance.now();
    let last = start;
    for (let index = 0; last - start < duration; index++) {
      step(index);
      const now = await new Promise((resolve) => requestAnimationFrame(resolve));
      times.push(now - last);
      last = now;
    }
    return times.slice(1);
  },

  /** A pan by pointer events, back and forth. */
  async pan(duration) {
    const stage = document.querySelector('.map-base');
    const { left, top, width, height } = stage.getBoundingClientRect();
    const send = (type, x, y) => stage.dispatchEvent(new PointerEvent(type, {
      pointerId: 1, pointerType: 'mouse', button: type === 'pointermove' ? -1 : 0, clientX: left + x, clientY: top + y, bubbles: true,
    }));
    stage.setPointerCapture = () => {};
    send('pointerdown', width / 2, height / 2);
    const times = await bench.frames(duration, (index) => {
      send('pointermove', width / 2 + Math.sin(index / 25) * width * 0.4, height / 2 + Math.cos(index / 31) * height * 0.4);
    });
    send('pointerup', width / 2, height / 2);
    return times;
  },

  /** A zoom by wheel events, in and out. */
  async zoom(duration) {
    const stage = document.querySelector('.map-base');
    const { left, top, width, height } = stage.getBoundingClientRect();
    return bench.frames(duration, (index) => stage.dispatchEvent(new WheelEvent('wheel', {
      deltaY: Math.sin(index / 20) > 0 ? -40 : 40, clientX: left + width * 0.4, clientY: top + height * 0.6, bubbles: true, cancelable: true,
    })));
  },
};

Object.assign(window, { bench });
