/** What the board says of ranks and intervals: known, resting on few tasks, and unknown with the reason. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { meanInterval, rankText, scoresShown, shownKeys, titleBeside } from '../../../../leaderboard/pages/board/columns.js';
import { defaults } from '../../../../leaderboard/pages/board/state.js';
import { payload } from './payload.mjs';

const { ranking } = payload();

test('a known interval says what it holds, and what it rests on where that is little', () => {
  assert.equal(rankText(ranking, 0), 'Rank 1, interval 1 to 2 (at least 95%); tie class A');
  assert.equal(rankText(ranking, 1), 'Rank 4, interval 3 to 4 (at least 95%); tie class B');
  assert.equal(meanInterval(ranking, 0, 1), '95% interval 74.0 to 76.0');
  assert.equal(meanInterval(ranking, 1, 1), 'at least 95% interval 54.0 to 56.0');
});

test('an unknown interval is said to be unknown, with the reason', () => {
  assert.equal(rankText(ranking, 3), 'Rank 3; interval and tie class unknown: printed means stand for IQA');
  assert.equal(meanInterval(ranking, 3, 1), 'interval unknown: printed means stand for IQA');
  assert.equal(rankText(ranking, 4), 'Not ranked: covers half of the tasks');
  assert.equal(meanInterval(ranking, 4, 1), '');
});

test('the name of an own model leaves its mark to the badge, but not the digest that tells it from a namesake', () => {
  assert.equal(titleBeside({ own: true, title: 'net (own)' }), 'net');
  assert.equal(titleBeside({ own: true, title: 'net (own, 01d01693)' }), 'net (01d01693)');
  assert.equal(titleBeside({ own: false, title: 'net (own)' }), 'net (own)');
});

const boardOf = (data, patch = {}) => ({ payload: data, ranking: data.ranking, state: { ...defaults(data), ...patch }, scaleRows: data.rows.map((_, at) => at) });
const keys = (data, patch) => shownKeys(boardOf(data, patch)).map((key) => (typeof key === 'number' ? data.columns[key].key : key));

test('a column without a value in any row is not shown; the drawn intervals only when switched on, as are facts', () => {
  const full = payload();
  assert.deepEqual(keys(full), ['rank', 'range', 'class', 'parameters', 'mean', 'Img-2AFC', 'IQA']);
  const some = payload();
  some.ranking.coverage[3] = 0.9;
  assert.ok(keys(some).includes('coverage'), 'a ranked row without a task');
  assert.deepEqual(keys(full, { interval: 'show' }).slice(5, 6), ['interval']);
  assert.deepEqual(keys(full, { late: 'show', date: 'show', memory: 'show' }).slice(3, 6), ['parameters', 'date', 'late']);
  const bare = payload();
  bare.rows.forEach((row) => Object.assign(row, { parameters: null }));
  bare.cells.forEach((row) => row.splice(1, 1, null));
  for (const name of ['low', 'high', 'mean_low', 'mean_high']) bare.ranking[name] = bare.rows.map(() => null);
  Object.assign(bare.ranking, { tie: bare.rows.map(() => ''), coverage: bare.rows.map(() => 1) });
  assert.deepEqual(keys(bare, { interval: 'show' }), ['rank', 'mean', 'Img-2AFC']);
  for (const name of ['rank', 'mean']) bare.ranking[name] = bare.rows.map(() => null);
  assert.deepEqual(keys(bare), ['Img-2AFC'], 'where no row is ranked');
});

test('an empty column stays where the visitor chose the columns', () => {
  const bare = payload();
  bare.cells.forEach((row) => row.splice(2, 1, null));
  assert.deepEqual(keys(bare, { columns: ['u/nights'] }).slice(-1), ['u/nights']);
});

test('the column that the table is sorted by is shown, chosen or not', () => {
  const data = payload();
  const sorted = (key) => ({ sort: { key, down: true } });
  assert.ok(keys(data, sorted('u/fid')).includes('u/fid'));
  assert.ok(keys(data, sorted('date')).includes('date'));
  assert.ok(!keys(data).includes('u/fid'));
  data.suite.people = 'IQA';
  assert.ok(!keys(data).includes('mean'), 'the headline is there as the column of people');
  assert.ok(keys(data, sorted('mean')).includes('mean'));
  assert.deepEqual(scoresShown(boardOf(data, { families: [], ...sorted('u/bapps') })).map((at) => data.columns[at].key), ['u/bapps']);
});
