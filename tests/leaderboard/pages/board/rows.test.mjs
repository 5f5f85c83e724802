import assert from 'node:assert/strict';
import { test } from 'node:test';

import { change, columnHint, parametersText, shown } from '../../../../leaderboard/pages/board/columns.js';
import { fileName } from '../../../../leaderboard/pages/board/export.js';
import { chipsOf, withoutFilters } from '../../../../leaderboard/pages/board/filters.js';
import { cellAt, defaultOrigin, facetCounts, FACETS, filterRows, originsOf, sizeOf, sortRows, years } from '../../../../leaderboard/pages/board/rows.js';
import { namesOf } from '../../../../leaderboard/pages/board/selection.js';
import { defaults } from '../../../../leaderboard/pages/board/state.js';
import { breakable } from '../../../../leaderboard/pages/board/titles.js';
import { payload } from './payload.mjs';

const given = payload();
const all = [0, 1, 2, 3, 4];
const filtered = (patch) => filterRows(given, { ...defaults(given), origin: [], ...patch });
const sorted = (key, down, rows = all) => sortRows(given, given.ranking, rows, { key, down });

test('ranks ascend, unranked rows come last', () => {
  assert.deepEqual(sorted('rank', false), [0, 2, 3, 1, 4]);
  assert.deepEqual(sorted('rank', true), [1, 3, 2, 0, 4]);
});

test('a missing cell comes last in both directions and equal values follow the rank', () => {
  assert.deepEqual(sorted('u/bapps', true), [2, 4, 1, 0, 3]);
  assert.deepEqual(sorted('u/bapps', false), [1, 4, 2, 0, 3]);
  assert.deepEqual(sorted('Img-2AFC', true), [2, 0, 4, 3, 1]);
  assert.deepEqual(sorted('mean', true), [0, 2, 3, 1, 4]);
  assert.deepEqual(sorted('parameters', false), [4, 0, 3, 2, 1]);
});

test('titles sort as words with numbers', () => {
  assert.deepEqual(sorted('title', false), [0, 4, 1, 3, 2]);
});

test('sorting leaves the rows it was given alone', () => {
  const rows = [4, 3];
  assert.deepEqual(sorted('rank', false, rows), [3, 4]);
  assert.deepEqual(rows, [4, 3]);
});

test('search needs every word, in any of title, organisation, family and key', () => {
  assert.deepEqual(filtered({ q: 'ALPHA' }), [0, 4]);
  assert.deepEqual(filtered({ q: 'other delta' }), [3]);
  assert.deepEqual(filtered({ q: 'other alpha' }), []);
});

test('facets: any value of one, every one of several', () => {
  assert.deepEqual(filtered({ kind: ['metric'] }), [1]);
  assert.deepEqual(filtered({ size: ['<100m', 'unknown'] }), [1, 4]);
  assert.deepEqual(filtered({ open: ['no', 'unknown'] }), [1, 2]);
  assert.deepEqual(filtered({ open: ['no', 'unknown'], modality: ['text'] }), [2]);
  assert.deepEqual(filtered({ origin: ['computed'] }), [2]);
  assert.deepEqual(filtered({ group: ['specialised'] }), [3]);
  assert.deepEqual(filtered({ models: ['lab/beta'] }), [1]);
});

test('released and trained-on; an unknown date is not later than any', () => {
  assert.deepEqual(filtered({ released: '2023' }), [2, 3]);
  assert.deepEqual(filtered({ trained: 'hide' }), [0, 1, 3, 4]);
  assert.deepEqual(filtered({ trained: 'only' }), [2]);
  assert.deepEqual(years(given), ['2021', '2023', '2024']);
});

test('the counts of a facet follow the other filters, not itself', () => {
  const kind = FACETS.find(({ key }) => key === 'kind');
  const counts = facetCounts(given, { ...defaults(given), kind: ['metric'], open: ['yes'] }, kind);
  assert.deepEqual([...counts], [['encoder', 3]]);
});

test('size classes at their limits', () => {
  assert.deepEqual([99.9, 100, 999, 1000, 5000, 5001, null].map(sizeOf),
    ['<100m', '100m-1b', '100m-1b', '1b-5b', '1b-5b', '>5b', 'unknown']);
});

test('a ranking over chosen tasks brings its own families', () => {
  const families = all.map((row) => [row, row * 10]);
  assert.equal(cellAt(given, { families }, 3, 1), 30);
  assert.equal(cellAt(given, { families }, 3, 2), 700);
  assert.equal(cellAt(given, {}, 3, 1), 600);
});

test('the change of a rank', () => {
  assert.deepEqual([change(1, 3), change(3, 1), change(2, 2), change(null, 2), change(2, null), change(null, null)],
    ['▲2', '▼2', '', 'out', 'new', '']);
});

test('numbers keep the digits of the paper', () => {
  assert.equal(shown(800, 1), '80.0');
  assert.equal(shown(5, 2), '0.05');
  assert.deepEqual([0.8, 63.2, 151.3, 1000, 7241, 24000, null].map(parametersText), ['0.8 M', '63 M', '151 M', '1.0 B', '7.2 B', '24 B', '—']);
});

test('a header explains its column', () => {
  assert.equal(columnHint({ ...given.columns[2], title: 'NIGHTS', chance: 50, n: 1824 }),
    'Img-2AFC: NIGHTS · Accuracy, higher is better · chance 50.0 · 1,824 items');
});

test('long names may break where a part begins', () => {
  assert.equal(breakable('CIFAR10Clustering').replace(/\u200b/g, '|'), 'CIFAR10|Clustering');
  assert.equal(breakable('IQA'), 'IQA');
});

test('each chip takes its own filter away', () => {
  const state = { ...defaults(given), kind: ['encoder', 'metric'], released: '2023' };
  assert.deepEqual(chipsOf(state, given).map(({ text }) => text), ['Kind: Encoder', 'Kind: Perceptual metric', 'Released: 2023 or later']);
  assert.deepEqual(chipsOf(state, given)[0].patch, { kind: ['metric'] });
});

test('of several origins the published rows are shown, and that is no filter in force', () => {
  assert.deepEqual(originsOf(given), ['published', 'computed']);
  assert.deepEqual(defaults(given).origin, ['published']);
  assert.deepEqual(filterRows(given, defaults(given)), [0, 1, 3, 4]);
  assert.deepEqual(chipsOf(defaults(given), given), []);
  assert.deepEqual(withoutFilters(given).origin, ['published']);
  assert.deepEqual(chipsOf({ ...defaults(given), origin: [] }, given).map(({ patch }) => patch), [{ origin: ['published'] }]);
  assert.deepEqual(chipsOf({ ...defaults(given), origin: ['computed'] }, given)[0].patch, { origin: ['published'] });
  const alone = payload();
  alone.rows.forEach((row) => Object.assign(row, { origin: 'imported' }));
  assert.deepEqual(defaultOrigin(alone), []);
});

test('names stand in the order of selection, the first as the reference', () => {
  assert.deepEqual(namesOf(given, ['lab/delta~published', 'lab/alpha~published']), ['DELTA (reference)', 'ALPHA']);
  assert.deepEqual(namesOf(given, ['lab/delta~published']), ['DELTA']);
});

test('Borda points sort, rows without any come last', () => {
  assert.deepEqual(sorted('borda', true), [0, 2, 3, 1, 4]);
  assert.deepEqual(sorted('borda', false), [1, 3, 2, 0, 4]);
});

test('a download never leaves its folder', () => {
  assert.equal(fileName('attachment; filename="a.csv"', 'x'), 'a.csv');
  assert.equal(fileName('attachment; filename="../../a.csv"', 'x'), 'a.csv');
  assert.equal(fileName(null, 'x.csv'), 'x.csv');
});
