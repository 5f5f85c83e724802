import assert from 'node:assert/strict';
import { test } from 'node:test';

import { altOf, pictureOf, verdictOf } from '../../../../leaderboard/pages/task/item.js';
import { parse, range, write } from '../../../../leaderboard/pages/task/items.js';

test('a choice comes back from its own query string, and defaults are left out', () => {
  const state = { items: ['a/b', 'c'], show: 'disagree', order: 'close', subset: 'de', part: 3, every: true };
  const query = write(state, '?task=x/y&__theme=dark');
  assert.equal(query, 'task=x/y&__theme=dark&items=a/b,c&show=disagree&order=close&subset=de&part=3&every=yes');
  assert.deepEqual(parse(`?${query}`), state);
  assert.equal(write(parse(''), '?task=x/y&items=old&show=wrong&part=2&every=yes'), 'task=x/y');
});

test('nonsense in the address is no choice', () => {
  const state = parse('?items=,,a,b,c&part=-7&every=perhaps');
  assert.deepEqual([state.items, state.part, state.every], [['a', 'b'], 1, false]);
  assert.equal(parse('?part=1e999').part, 1);
  assert.equal(parse('?part=2.9').part, 2);
});

test('the range of a page', () => {
  assert.equal(range(1, 24, 0), 'no');
  assert.equal(range(1, 24, 13), '13');
  assert.equal(range(1, 24, 24), '24');
  assert.equal(range(2, 24, 30), '25 to 30 of 30');
  assert.equal(range(2, 24, 1234), '25 to 48 of 1,234');
});

test('a picture is named by what it is', () => {
  assert.equal(altOf({ role: 'Alternative', label: 'B', right: true }, 'item 7'), 'Alternative B, the right one, of item 7');
  assert.equal(altOf({ role: 'Hit', label: '2', right: true, name: 'doc' }, 'q'), 'Hit 2 (doc), relevant, of q');
  assert.equal(altOf({ role: 'Reference', label: '', right: null }, 'i'), 'Reference, of i');
  assert.equal(pictureOf('mieb/stl10', 'ab'), 'thumbnails/mieb/stl10/ab.webp');
});

test('verdicts in words', () => {
  assert.equal(verdictOf({ right: true, answer: 'A' }, true), 'right');
  assert.equal(verdictOf({ right: false, answer: 'A' }, true), 'wrong');
  assert.equal(verdictOf({ right: null, answer: 'A/B' }, true), 'tied');
  assert.equal(verdictOf({ right: null, answer: 'hm', reply: 'hm' }, true), 'unread');
  assert.equal(verdictOf({ right: null, answer: '0.4' }, false), '');
});
