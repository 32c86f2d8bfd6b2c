// Trees that are hard to lay out, for the tests of the map.

import { randomFrom } from '../bench/repositories.js';

/** @param {string[]} paths @param {(path: string, index: number) => number} sizeOf */
export function filesOf(paths, sizeOf = () => 1000) {
  return [...paths].sort().map((path, index) => ({
    path, name: path.slice(path.lastIndexOf('/') + 1), size: sizeOf(path, index), language: null, state: null,
  }));
}

/** @param {number} count @param {(index: number) => string} pathOf */
const list = (count, pathOf) => Array.from({ length: count }, (_, index) => pathOf(index));

/** @param {number} seed @param {number} count */
function randomFiles(seed, count) {
  const random = randomFrom(seed);
  const paths = new Set(list(count, (index) => {
    const folders = list(Math.floor(random() * 6), () => `d${Math.floor(random() ** 2 * 5)}`);
    return [...folders, `file_${index}.rs`].join('/');
  }));
  return filesOf([...paths], () => Math.floor(Math.exp(random() * 16)));
}

const deep = list(40, (depth) => `${list(depth, (level) => `level${level}`).join('/')}${depth ? '/' : ''}file.rs`);

/** @type {[string, ReturnType<typeof filesOf>][]} */
export const TREES = [
  ['one file', filesOf(['a'])],
  ['two files, one of them huge', filesOf(['a', 'b'], (path) => (path === 'a' ? 1e9 : 1))],
  ['a folder of 5,000 files beside one file', filesOf(['README.md', ...list(5000, (index) => `src/f${index}.ts`)])],
  ['5,000 files in the root, one of them huge', filesOf(list(5000, (index) => `f${index}`), (_, index) => (index ? 0 : 1e8))],
  ['40 levels with a file each', filesOf(deep)],
  ['only zero sizes', filesOf(list(700, (index) => `d${index % 9}/f${index}`), () => 0)],
  ['folders of very unequal size', filesOf(list(3000, (index) => (index < 2980 ? `big/f${index}` : `d${index}/f`)))],
  ...list(6, String).map((seed) => /** @type {[string, ReturnType<typeof filesOf>]} */ (
    [`random tree ${seed}`, randomFiles(Number(seed) + 1, 40 * 5 ** (Number(seed) % 4))]
  )),
];
