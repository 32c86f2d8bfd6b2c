// The contrast of each pair of tokens that the page draws on each other, by the formula of WCAG 2.2.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const css = readFileSync(new URL('../../../public/style/tokens.css', import.meta.url), 'utf8');
const tokens = new Map([...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(([, name, light, dark]) => [name, { light, dark }]));

/** @param {string} color @returns {number} Relative luminance. */
function luminance(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @param {string} color @param {string} ground @returns {number} */
function contrast(color, ground) {
  const [darker, lighter] = [luminance(color), luminance(ground)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

const GROUNDS = ['ground', 'surface', 'raised', 'folder', 'cell'];
const STATES = ['writing', 'reading', 'neighbor'];
const HOLDERS = Array.from({ length: 8 }, (_, slot) => `holder-${slot}`);

/** Text and its ground: 4.5 to 1. */
const TEXTS = [
  ...GROUNDS.flatMap((ground) => ['ink', 'soft'].map((text) => [text, ground])),
  ...['ground', 'surface', 'raised'].flatMap((ground) => ['accent', ...STATES, 'good', 'warn', 'bad'].map((text) => [text, ground])),
  ...['writing', 'reading'].flatMap((state) => [state, 'ink', 'soft'].map((text) => [text, `${state}-ground`])),
  ['surface', 'accent'],
  ...STATES.map((state) => ['surface', state]),
  ...HOLDERS.map((holder) => ['surface', holder]),
];
/** Shapes and what they are drawn on: 3 to 1. */
const SHAPES = [
  ...GROUNDS.flatMap((ground) => [...STATES, 'focus'].map((shape) => [shape, ground])),
  ...HOLDERS.flatMap((holder) => ['cell', 'surface'].map((ground) => [holder, ground])),
];

for (const theme of /** @type {const} */ (['light', 'dark'])) {
  for (const [least, pairs] of /** @type {[number, string[][]][]} */ ([[4.5, TEXTS], [3, SHAPES]])) {
    test(`${theme}: ${pairs.length} pairs have a contrast of ${least} at least`, () => {
      const low = pairs.flatMap(([on, ground]) => {
        const [color, background] = [tokens.get(on), tokens.get(ground)];
        assert.ok(color && background, `${on} and ${ground} are tokens`);
        const ratio = contrast(color[theme], background[theme]);
        return ratio < least ? [`${on} on ${ground}: ${ratio.toFixed(2)}`] : [];
      });
      assert.deepEqual(low, []);
    });
  }
}

test('black on white has the contrast that the standard says', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#777777', '#ffffff').toFixed(2), '4.48');
});
