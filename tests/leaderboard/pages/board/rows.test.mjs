import assert from 'node:assert/strict';
import { test } from 'node:test';

import { change, columnHint, columnScale, coverageWords, isEstimated, marksAt, reasonAt, shown } from '../../../../leaderboard/pages/board/columns.js';
import { parametersText } from '../../../../leaderboard/js/number.js';
import { fileName } from '../../../../leaderboard/pages/board/export.js';
import { chipsOf, withoutFilters } from '../../../../leaderboard/pages/board/filters.js';
import { cellAt, defaultOrigin, differingRanks, facetCounts, FACETS, FACTS, facetValues, filterRows, originsOf, shownRows, sortRows } from '../../../../leaderboard/pages/board/rows.js';
import { namesOf } from '../../../../leaderboard/pages/board/selection.js';
import { ANY_SIZE, sizeWords, stopsOf } from '../../../../leaderboard/pages/board/sizes.js';
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

test('an estimated row stands among the ranks where its mean belongs', () => {
  const ranking = { ...given.ranking, place: [null, null, null, null, 1.5] };
  assert.deepEqual(sortRows(given, ranking, all, { key: 'rank', down: false }), [0, 4, 2, 3, 1]);
  assert.deepEqual([4, 0].map((row) => isEstimated(ranking, row)), [true, false]);
  assert.equal(isEstimated(given.ranking, 4), false);
});

test('a missing cell comes last in both directions and equal values follow the rank', () => {
  assert.deepEqual(sorted('u/bapps', true), [2, 4, 1, 0, 3]);
  assert.deepEqual(sorted('u/bapps', false), [1, 4, 2, 0, 3]);
  assert.deepEqual(sorted('Img-2AFC', true), [2, 0, 4, 3, 1]);
  assert.deepEqual(sorted('mean', true), [0, 2, 3, 1, 4]);
  assert.deepEqual(sorted('parameters', false), [4, 0, 3, 2, 1]);
  assert.deepEqual(sorted('date', true), [2, 3, 0, 4, 1]);
});

test('titles sort as words with numbers', () => {
  assert.deepEqual(sorted('title', false), [0, 4, 1, 3, 2]);
});

test('what is open of a model is a sign each, and words', () => {
  const open = FACTS.find(({ key }) => key === 'openness');
  const of = (more) => ({ ...given.rows[0], ...more });
  const some = of({ usable: false, training_code: true, training_data: false, paper: 'https://arxiv.org/abs/1' });
  assert.deepEqual([open.of(some), open.text(3, some)], [3, 'W – C – P']);
  assert.equal(open.words(some), 'weights, training code, paper; closed: licence for commercial use, training data');
  assert.equal(open.words(given.rows[0]), 'weights, licence for commercial use; not stated: training code, training data, paper');
  assert.equal(open.of(of({ open: null, license: '' })), null);
  assert.equal(open.of(of({ open: false, license: '' })), 0);
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
  assert.deepEqual(filtered({ usable: ['yes'] }), [0, 2, 3, 4]);
  assert.deepEqual(filtered({ late_interaction: ['no'], instructions: ['yes'] }), [1]);
  assert.deepEqual(filtered({ open: ['no', 'unknown'] }), [1, 2]);
  assert.deepEqual(filtered({ open: ['no', 'unknown'], modality: ['text'] }), [2]);
  assert.deepEqual(filtered({ origin: ['computed'] }), [2]);
  assert.deepEqual(filtered({ group: ['specialised'] }), [3]);
  assert.deepEqual(filtered({ models: ['lab/beta'] }), [1]);
});

test('licence, year and training: what is not stated is a choice of its own', () => {
  const values = (key) => facetValues(given, FACETS.find((facet) => facet.key === key));
  assert.deepEqual(values('license'), ['cc-by-nc-4.0', 'mit', 'unknown']);
  assert.deepEqual(values('released'), ['2021', '2023', '2024', 'unknown']);
  assert.deepEqual(values('trained'), ['yes', 'no', 'unknown']);
  assert.deepEqual(filtered({ license: ['cc-by-nc-4.0', 'unknown'] }), [1, 2]);
  assert.deepEqual(filtered({ released: ['2023', '2024'] }), [2, 3]);
  assert.deepEqual(filtered({ released: ['unknown'] }), [1]);
  assert.deepEqual(['yes', 'no', 'unknown'].map((one) => filtered({ trained: [one] })), [[2], [0, 3, 4], [1]]);
});

test('the counts of a facet follow the other filters, not itself', () => {
  const kind = FACETS.find(({ key }) => key === 'kind');
  const counts = facetCounts(given, { ...defaults(given), kind: ['metric'], open: ['yes'] }, kind);
  assert.deepEqual([...counts], [['encoder', 3]]);
});

test('a range of sizes holds its ends, and models of unknown size only where they are chosen too', () => {
  const sized = (patch) => filtered({ sizes: { ...ANY_SIZE, ...patch } });
  assert.deepEqual(sized({}), all);
  assert.deepEqual(sized({ min: 150, max: 1000 }), [0, 3]);
  assert.deepEqual(sized({ max: 99.9, unknown: true }), [1, 4]);
  assert.deepEqual(sized({ unknown: true }), [1]);
  assert.deepEqual([{ min: 150 }, { max: 1000, unknown: true }, { unknown: true }, {}].map((patch) => sizeWords({ ...ANY_SIZE, ...patch })),
    ['at least 150 M', 'at most 1.0 B or not stated', 'not stated', '']);
  assert.deepEqual(stopsOf(given.rows), [70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 7000]);
  assert.deepEqual(stopsOf([{ parameters: 7 }, { parameters: null }]), []);
});

test('a pinned row is on top under any filter and sort', () => {
  const shown = (patch) => shownRows(given, given.ranking, { ...defaults(given), pin: ['lab/gamma~published', 'lab/delta~published'], ...patch }, [0, 3]);
  assert.deepEqual(shown({}), [2, 3, 0]);
  assert.deepEqual(shown({ sort: { key: 'rank', down: true } }), [3, 2, 0]);
});

test('a ranking over chosen tasks brings its own families', () => {
  const families = all.map((row) => [row, row * 10]);
  assert.equal(cellAt(given, { families }, 3, 1), 30);
  assert.equal(cellAt(given, { families }, 3, 2), 700);
  assert.equal(cellAt(given, {}, 3, 1), 600);
});

test('a ranking over chosen tasks brings the marks of its families, and its reason for a gap', () => {
  const marked = { ...given, marks: { '3,1': 16, '3,2': 4 } };
  const ranking = { families: all.map(() => [1, null]), family_marks: all.map(() => [8, 2]), changed: 'only u/nights' };
  assert.deepEqual([marksAt(marked, {}, 3, 1), marksAt(marked, ranking, 3, 1)], [16, 2]);
  assert.deepEqual([marksAt(marked, {}, 3, 2), marksAt(marked, ranking, 3, 2)], [4, 4]);
  assert.equal(reasonAt(marked, ranking, 3, 1), 'no score on the tasks that count');
  assert.equal(reasonAt(marked, ranking, 3, 4), 'Not evaluated by the paper');
});

test('colours run over the rows that the filters leave, and over no doubtful figure', () => {
  const figures = [30, null, 90, 50, 10];
  const scale = (rows, doubtful = []) => columnScale(rows, (row) => (doubtful.includes(row) ? null : figures[row]), true);
  assert.deepEqual(scale(all), { low: 10, high: 90, higher: true, best: 90 });
  assert.deepEqual(scale(all, [2]), { low: 10, high: 50, higher: true, best: 50 });
  assert.deepEqual(scale([0, 1, 3]), { low: 30, high: 50, higher: true, best: 50 });
  assert.equal(columnScale(all, (row) => figures[row], false).best, 10);
  assert.equal(Number.isFinite(scale([1]).low), false);
});

test('ranks that differ are counted over the origins shown', () => {
  const ranking = { ...given.ranking, rank: [2, 4, 1, 3, 5] };
  assert.deepEqual(differingRanks(given, ranking, { origin: [] }), { differ: 3, of: 5 });
  assert.deepEqual(differingRanks(given, ranking, { origin: ['computed'] }), { differ: 1, of: 1 });
  assert.deepEqual(differingRanks(given, given.ranking, { origin: [] }), { differ: 0, of: 5 });
});

test('the change of a rank', () => {
  assert.deepEqual([change(1, 3), change(3, 1), change(2, 2), change(null, 2), change(2, null), change(null, null)],
    ['▲2', '▼2', '', 'out', 'new', '']);
});

test('numbers keep the digits of the paper', () => {
  assert.equal(shown(800, 1), '80.0');
  assert.equal(shown(5, 2), '0.05');
  assert.deepEqual([0.8, 63.2, 151.3, 1000, 7241, 24000, null].map(parametersText), ['800 k', '63 M', '151 M', '1.0 B', '7.2 B', '24 B', '—']);
});

test('coverage says what has a figure and what counts by a printed mean', () => {
  const ranking = { coverage: [0.719, 0.6, 1], covered: [0.719, 1, 1] };
  assert.deepEqual([0, 1, 2].map((row) => coverageWords(ranking, row)), ['71% of the tasks have a score',
    '60% of the tasks have a score; 100% with the category means that the paper prints', '100% of the tasks have a score']);
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
  const state = { ...defaults(given), kind: ['encoder', 'metric'], released: ['2023'], trained: ['unknown'] };
  assert.deepEqual(chipsOf(state, given).map(({ text }) => text), ['Kind: Encoder', 'Kind: Perceptual metric', 'Released: 2023',
    'Trained on these data sets: Unknown, its training data is not stated']);
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

test('a download never leaves its folder', () => {
  assert.equal(fileName('attachment; filename="a.csv"', 'x'), 'a.csv');
  assert.equal(fileName('attachment; filename="../../a.csv"', 'x'), 'a.csv');
  assert.equal(fileName(null, 'x.csv'), 'x.csv');
});
