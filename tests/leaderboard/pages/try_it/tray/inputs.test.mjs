import assert from 'node:assert/strict';
import { test } from 'node:test';

import { exampleKeys, kinds, labels, moved, obstacle, sent } from '../../../../../leaderboard/pages/try_it/tray/inputs.js';

const image = (id, state = 'ready') => ({ id, kind: 'image', state, key: `key-${id}` });
const text = (id, words, example = null) => ({ id, kind: 'text', text: words, example });
const cat = { id: '9', kind: 'example', key: 'cat' };

test('slots are lettered, and a choice begins with its reference', () => {
  const inputs = [image('1'), image('2'), image('3')];
  assert.deepEqual(labels(inputs, 'odd'), ['A', 'B', 'C']);
  assert.deepEqual(labels(inputs, 'choice'), ['Reference', 'A', 'B']);
  assert.equal(labels(Array(9).fill(cat), '').at(-1), 'I');
});

test('what could not be sent does not count, what is on its way does', () => {
  assert.deepEqual(kinds([image('1', 'failed'), image('2', 'sending'), text('3', ''), cat, image('4', 'gone')]), ['image', 'text', 'image']);
});

test('an input is sent as what it is; words of an example only while they are its words', () => {
  const words = { key: 'text-cat', text: 'a cat' };
  assert.deepEqual(sent(image('1')), { kind: 'image', key: 'key-1' });
  assert.deepEqual(sent(cat), { kind: 'example', key: 'cat' });
  assert.deepEqual(sent(text('1', 'a cat', words)), { kind: 'example', key: 'text-cat' });
  assert.deepEqual(sent(text('1', 'a cat ', words)), { kind: 'text', text: 'a cat ' });
  assert.deepEqual(exampleKeys([cat, text('1', 'a cat', words)]), ['cat', 'text-cat']);
  assert.equal(exampleKeys([cat, image('1')]), null);
  assert.equal(exampleKeys([cat, text('1', 'a cat')]), null);
  assert.deepEqual(exampleKeys([]), []);
});

test('what stands in the way is named by its slot, the worst first', () => {
  assert.equal(obstacle([cat, text('1', 'words')], 'pair'), '');
  assert.match(obstacle([cat, text('1', ' \n')], 'pair'), /^B is empty/);
  assert.match(obstacle([text('1', ''), image('2', 'sending')], 'pair'), /^B is still being sent/);
  assert.match(obstacle([image('1', 'sending'), cat, image('2', 'failed')], 'choice'), /^B holds no image/);
  assert.match(obstacle([image('1', 'gone')], 'choice'), /^Reference holds no image/);
});

test('a text that the server would refuse is not sent', () => {
  assert.equal(obstacle([cat, text('1', '😀'.repeat(100_000))], 'pair'), '');
  assert.equal(obstacle([cat, text('1', 'a'.repeat(100_001))], 'pair'), 'B has more than 100,000 characters: shorten it');
});

test('an input moves to an index, within bounds', () => {
  const inputs = ['1', '2', '3'].map((id) => image(id));
  const order = (id, index) => moved(inputs, id, index).map((input) => input.id).join('');
  assert.equal(order('3', 0), '312');
  assert.equal(order('1', 2), '231');
  assert.equal(order('1', 99), '231');
  assert.equal(order('2', -5), '213');
  assert.equal(order('none', 0), '123');
});
