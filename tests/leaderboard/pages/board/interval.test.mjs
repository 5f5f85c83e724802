/** The axis of the intervals: round ticks within it, and the same whatever rows are hidden. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { axisOf, partOf } from '../../../../leaderboard/pages/board/interval.js';

const ranking = { mean: [85, 61, null], mean_low: [81.2, 58.4, null], mean_high: [91.1, 64, null] };

test('ticks are round numbers within the intervals', () => {
  const axis = axisOf(ranking, [0, 1, 2]);
  assert.deepEqual([axis.low, axis.high, axis.step], [58.4, 91.1, 10]);
  assert.deepEqual(axis.ticks.map(({ text }) => text), ['60', '70', '80', '90']);
  assert.equal(partOf(axis, 58.4), 0);
  assert.equal(partOf(axis, 91.1), 1);
});

test('small ranges have decimals, large ones none, and none at all has no axis', () => {
  const of = (low, high) => axisOf({ mean: [low], mean_low: [low], mean_high: [high] }, [0]);
  assert.deepEqual(of(0.51, 0.58).ticks.map(({ text }) => text), ['0.52', '0.54', '0.56', '0.58']);
  assert.deepEqual(of(-900, 1100).ticks.map(({ text }) => text), ['-500', '0', '500', '1000']);
  assert.equal(of(5, 5), null);
  assert.equal(axisOf(ranking, [2]), null);
});
