/** What the board says of ranks and intervals: known, resting on few tasks, and unknown with the reason. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { basisText, meanInterval, rankText } from '../../../../leaderboard/pages/board/columns.js';
import { payload } from './payload.mjs';

const { ranking } = payload();

test('a known interval says what it holds, and what it rests on where that is little', () => {
  assert.equal(rankText(ranking, 0), 'Rank 1, interval 1 to 2 (at least 95%); tie class A');
  assert.equal(rankText(ranking, 1), 'Rank 4, interval 3 to 4 (usually at least 95%); tie class B; rests on few tasks');
  assert.equal(meanInterval(ranking, 0, 1), '95% interval 74.0 to 76.0');
  assert.equal(meanInterval(ranking, 1, 1), 'at least 95% interval 54.0 to 56.0');
});

test('an unknown interval is said to be unknown, with the reason', () => {
  assert.equal(rankText(ranking, 3), 'Rank 3; interval and tie class unknown: printed means stand for IQA');
  assert.equal(meanInterval(ranking, 3, 1), 'interval unknown: printed means stand for IQA');
  assert.equal(rankText(ranking, 4), 'Not ranked: covers half of the tasks');
  assert.equal(meanInterval(ranking, 4, 1), '');
});

test('categories of one task are named', () => {
  assert.equal(basisText({ ...ranking, fixed: ['IQA', 'OOO'] }, 1), 'rests on few tasks; says nothing beyond the one task of IQA, OOO');
});
