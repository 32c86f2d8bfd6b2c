// The bar above the map: the folder in view, the legend, and the settings of the map.

import { makeButton, makeElement } from '../app/dom.js';

/** @typedef {import('./weights.js').Measure} Measure */

/**
 * @typedef {object} BarActions
 * @property {(node: number) => void} goTo
 * @property {(factor: number) => void} zoomBy
 * @property {() => void} reset
 * @property {(measure: Measure) => void} measureBy
 * @property {(isOn: boolean) => void} showAllEdges
 */

const ZOOM = 1.6;
const MARKS = [
  ['writing', 'Writing'], ['reading', 'Reading'], ['neighbor', 'Blocked neighbor'], ['informed', 'Other neighbor'],
  ['owned', 'Owned by the intent'],
];

export class Bar {
  /** @param {HTMLElement} parent @param {BarActions} actions */
  constructor(parent, actions) {
    this.actions = actions;
    this.crumbs = makeElement('ol', { class: 'map-crumbs' });
    const trail = makeElement('nav', { class: 'map-trail', 'aria-label': 'Folder in view' }, this.crumbs);
    const marks = MARKS.map(([mark, text]) =>
      makeElement('li', {}, makeElement('span', { class: `map-key is-${mark}` }), text));
    this.owned = marks[marks.length - 1];
    const legend = makeElement('ul', { class: 'map-legend', 'aria-label': 'What the marks of cells mean' }, ...marks);
    this.languages = makeElement('ul', { class: 'map-languages', 'aria-label': 'Language of a cell' });

    /** @type {Record<Measure, HTMLButtonElement>} */
    this.measures = {
      size: button('Size', 'Area by file size', () => this.#measure('size')),
      importers: button('Importers', 'Area by number of importers', () => this.#measure('importers')),
    };
    const measures = group('Area of a cell', this.measures.size, this.measures.importers);

    this.edges = button('All edges', 'Show every import', () => {
      const isOn = this.edges.getAttribute('aria-pressed') !== 'true';
      this.edges.setAttribute('aria-pressed', String(isOn));
      actions.showAllEdges(isOn);
    });
    this.edges.setAttribute('aria-pressed', 'false');

    this.zoomOut = button('−', 'Zoom out', () => actions.zoomBy(1 / ZOOM));
    this.zoomIn = button('+', 'Zoom in', () => actions.zoomBy(ZOOM));
    this.fit = button('Fit', 'Show the whole map', () => actions.reset());
    const zoom = group('Zoom', this.zoomOut, this.zoomIn, this.fit);

    const tools = makeElement('div', { class: 'map-tools' }, measures, this.edges, zoom);
    parent.append(makeElement('div', { class: 'map-bar' }, trail, legend, this.languages, tools));
    this.shownCrumbs = '';
    this.showOwned(false);
    this.#setMeasure('size');
  }

  /** Shows the mark for the files of the selected intent in the legend. @param {boolean} isOn */
  showOwned(isOn) {
    this.owned.hidden = !isOn;
  }

  /** @param {string[]} languages @param {import('./palette.js').Palette} palette */
  showLanguages(languages, palette) {
    this.languages.replaceChildren(...languages.map((language) => {
      const tint = makeElement('span', { class: 'map-tint' });
      tint.style.background = palette.cell(language);
      return makeElement('li', {}, tint, language);
    }));
  }

  /** @param {boolean} isOffered Whether the graph has few enough edges to show them all. */
  offerAllEdges(isOffered) {
    this.edges.hidden = !isOffered;
  }

  /** @param {{ canZoomIn: boolean, canZoomOut: boolean }} camera */
  setZoom({ canZoomIn, canZoomOut }) {
    this.zoomIn.disabled = !canZoomIn;
    this.zoomOut.disabled = !canZoomOut;
    this.fit.disabled = !canZoomOut;
  }

  /** @param {{ node: number, name: string }[]} folders From the root to the folder in view. */
  setCrumbs(folders) {
    const key = folders.map(({ node, name }) => `${node}:${name}`).join('/');
    if (key === this.shownCrumbs) return;
    this.shownCrumbs = key;
    this.crumbs.replaceChildren(...folders.map(({ node, name }, index) => {
      const crumb = button(name, '', () => this.actions.goTo(node));
      if (index === folders.length - 1) crumb.setAttribute('aria-current', 'location');
      return makeElement('li', {}, crumb);
    }));
  }

  /** @param {Measure} measure */
  #measure(measure) {
    this.#setMeasure(measure);
    this.actions.measureBy(measure);
  }

  /** @param {Measure} measure */
  #setMeasure(measure) {
    for (const [name, choice] of Object.entries(this.measures)) {
      choice.setAttribute('aria-pressed', String(name === measure));
    }
  }
}

/** @param {string} label @param {...HTMLButtonElement} buttons */
function group(label, ...buttons) {
  return makeElement('div', { class: 'map-choice', role: 'group', 'aria-label': label }, ...buttons);
}

/**
 * @param {string} text
 * @param {string} title Its effect; empty if the text says it.
 * @param {() => void} onclick
 */
function button(text, title, onclick) {
  const label = text.length < 2 ? title : '';
  return makeButton({ title: title || null, 'aria-label': label || null, onclick }, text);
}
