import assert from 'node:assert/strict';
import { test } from 'node:test';

import { question } from '../../../../leaderboard/pages/board/compared.js';
import { defaults } from '../../../../leaderboard/pages/board/state.js';
import { payload } from './payload.mjs';

const given = payload();
const [alpha, beta, gamma] = given.rows.map(({ id }) => id);
const board = (patch, rows = [0, 1, 2, 3, 4]) => ({ payload: given, rows, state: { ...defaults(given), select: [beta, alpha, gamma], compare: true, ...patch } });

test('nothing is asked before a comparison, nor with fewer than two rows', () => {
  assert.equal(question(board({ compare: false })), null);
  assert.equal(question(board({ select: [alpha] })), null);
});

test('rows keep the order of their selection; those that filters hide are told apart', () => {
  const { ids, hidden } = question(board({}, [0, 2, 4]));
  assert.deepEqual([ids, hidden], [[alpha, gamma], [beta]]);
});

test('what is compared is what the table is sorted by', () => {
  const by = (key) => question(board({ sort: { key, down: true } })).by;
  assert.deepEqual(['rank', 'title', 'mean', 'borda', 'coverage', 'parameters'].map(by), ['', '', '', '', '', '']);
  assert.deepEqual([by('IQA'), by('u/nights')], ['IQA', 'u/nights']);
});

test('weights, tasks and coverage change the question', () => {
  const usual = question(board({}));
  assert.equal(usual.query, '');
  assert.match(question(board({ weights: new Map([['Img-2AFC', 1], ['IQA', 3]]) })).query, /^w=.*IQA:3/);
  assert.match(question(board({ tasks: ['u/nights'], coverage: 0.5 })).query, /coverage=0.5&tasks=u\/nights/);
  assert.deepEqual(question(board({ q: 'alpha', sort: { key: 'rank', down: true } })), usual, 'a direction is no other question');
});
