import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandOf, isTypedInto, nextFile } from '../../../public/panels/key_commands.js';

const press = (key, fields = {}) => commandOf({ key, ctrlKey: false, metaKey: false, altKey: false, isTyping: false, ...fields });

test('each key has its command', () => {
  const commands = Object.fromEntries(['/', '+', '=', '-', '0', 'm', 'T', '?', 'Escape', 'ArrowLeft', 'x', 'Tab'].map((key) => [key, press(key)]));
  assert.deepEqual(commands, {
    '/': 'search', '+': 'zoom_in', '=': 'zoom_in', '-': 'zoom_out', 0: 'reset', m: 'map', T: 'table', '?': 'help', Escape: 'close', ArrowLeft: 'left', x: null, Tab: null,
  });
});

test('keys of the browser and of the system stay theirs', () => {
  for (const modifier of ['ctrlKey', 'metaKey', 'altKey']) assert.equal(press('0', { [modifier]: true }), null);
});

test('keys do nothing while a person types', () => {
  assert.equal(press('m', { isTyping: true }), null);
  assert.ok(isTypedInto({ tagName: 'INPUT', type: 'text' }));
  assert.ok(isTypedInto({ tagName: 'SELECT' }));
  assert.ok(isTypedInto({ tagName: 'DIV', isContentEditable: true }));
  assert.ok(!isTypedInto({ tagName: 'INPUT', type: 'checkbox' }));
  assert.ok(!isTypedInto({ tagName: 'BUTTON' }));
});

const FILES = ['a.ts', 'b.ts', 'c.ts'].map((path) => ({ path }));
const all = () => true;

test('steps turn over at the ends and begin at either', () => {
  assert.equal(nextFile(FILES, 2, 1, all), 'a.ts');
  assert.equal(nextFile(FILES, 0, -1, all), 'c.ts');
  assert.equal(nextFile(FILES, undefined, 1, all), 'a.ts');
  assert.equal(nextFile(FILES, undefined, -1, all), 'c.ts');
});

test('steps leave out what the filter hides', () => {
  assert.equal(nextFile(FILES, 0, 1, (path) => path !== 'b.ts'), 'c.ts');
  assert.equal(nextFile(FILES, 0, 1, () => false), null);
  assert.equal(nextFile([], undefined, 1, all), null);
});
