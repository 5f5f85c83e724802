import assert from 'node:assert/strict';
import { test } from 'node:test';

import { counted, folded, parse, select, write } from '../../../leaderboard/js/facets.js';

const facets = [
  { key: 'kind', options: [['encoder', 'encoder'], ['metric', 'metric']], test: (row, value) => row.kind === value },
  { key: 'size', options: [['1b', 'at most 1 B'], ['unknown', 'unknown']], test: ({ size }, value) => (value === 'unknown' ? size === null : size !== null && size <= 1000) },
];
const columns = [{ key: 'title', value: ({ title }) => title }, { key: 'size', value: ({ size }) => size }];
const rows = [
  { title: 'Méduse 2', kind: 'encoder', size: 300 }, { title: 'Alpha 10', kind: 'metric', size: null },
  { title: 'Alpha 9', kind: 'encoder', size: 7000 },
].map((row) => ({ ...row, text: folded(`${row.title} ${row.kind}`) }));
const all = { q: '', sort: null, kind: '', size: '' };
const titles = (state) => select(rows, { ...all, ...state }, { facets, columns }).map(({ title }) => title);

test('an address is read without trust, and what is unknown in it is named', () => {
  const known = { facets, sorts: ['title', 'size'] };
  assert.deepEqual(parse('?q=clip&kind=metric&size=1b&sort=-size', known), {
    state: { q: 'clip', kind: 'metric', size: '1b', sort: { key: 'size', down: true } }, ignored: [],
  });
  assert.deepEqual(parse('?kind=%3Cb%3E&size=constructor&sort=__proto__', known), { state: all, ignored: ['kind', 'size', 'sort'] });
  assert.equal(parse(`?q=${'x'.repeat(5000)}`, known).state.q.length, 200);
});

test('a state is written without its defaults, keeps what is not its own, and reads back', () => {
  assert.equal(write(all, '?kind=metric&__theme=dark'), '__theme=dark');
  const state = { q: 'ü & co', kind: 'encoder', size: '', sort: { key: 'title', down: false } };
  assert.deepEqual(parse(`?${write(state, '')}`, { facets, sorts: ['title'] }).state, state);
});

test('every word and every filter must fit; an unknown size fits no limit', () => {
  assert.deepEqual(titles({ q: 'ALPHA metric' }), ['Alpha 10']);
  assert.deepEqual(titles({ q: 'meduse' }), ['Méduse 2']);
  assert.deepEqual(titles({ size: '1b' }), ['Méduse 2']);
  assert.deepEqual(titles({ size: 'unknown' }), ['Alpha 10']);
  assert.deepEqual(titles({ kind: 'encoder', size: 'unknown' }), []);
});

test('numbers in names and columns sort as numbers, missing ones last both ways', () => {
  assert.deepEqual(titles({ sort: { key: 'title', down: false } }), ['Alpha 9', 'Alpha 10', 'Méduse 2']);
  assert.deepEqual(titles({ sort: { key: 'size', down: true } }), ['Alpha 9', 'Méduse 2', 'Alpha 10']);
  assert.deepEqual(titles({ sort: { key: 'size', down: false } }), ['Méduse 2', 'Alpha 9', 'Alpha 10']);
});

test('options come with their counts, the most frequent first and what is not known last', () => {
  assert.deepEqual(counted(['mit', '', 'apache', '', 'apache', ''], { label: (value) => value.toUpperCase() }), [
    ['apache', 'APACHE (2)'], ['mit', 'MIT (1)'], ['unknown', 'unknown (3)'],
  ]);
});
