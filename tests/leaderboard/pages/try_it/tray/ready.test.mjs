import assert from 'node:assert/strict';
import { test } from 'node:test';

import { expectedAnswer, gotIt, gotItCount } from '../../../../../leaderboard/pages/try_it/tray/ready.js';

const titles = new Map([['cat', 'A cat'], ['cup', 'A cup'], ['rocket', 'A rocket']]);
const record = (parts) => ({ right: [], wrong: [], outside: [], silent: [], failed: [], done: true, download: null, ...parts });

test('what is expected is named by its letter and its title', () => {
  assert.equal(expectedAnswer({ mode: 'choice', inputs: ['cat', 'cup', 'rocket'], expected: 1 }, titles), 'B, A rocket');
  assert.equal(expectedAnswer({ mode: 'odd', inputs: ['cat', 'cup', 'rocket'], expected: 0 }, titles), 'A, A cat');
  assert.equal(expectedAnswer({ mode: 'pair', inputs: ['cat', 'cup'], expected: null }, titles), 'a matching pair');
});

test('how many got it, also while some still answer', () => {
  assert.equal(gotItCount(record({ right: ['M'], wrong: ['N'], silent: ['O'] })), '1 of 3 got it');
  assert.equal(gotItCount(record({ right: ['M'], done: false })), '1 of 1 so far');
  assert.equal(gotItCount(record({ done: false })), '');
  assert.equal(gotItCount(record({ right: ['M'], outside: ['Q'] })), '1 of 1 got it');
  assert.equal(gotItCount(record({ outside: ['Q'] })), 'no calibrated model');
  assert.equal(gotItCount(record({})), 'no model takes it');
  assert.equal(gotItCount(undefined), '');
});

test('who got it and who did not', () => {
  assert.equal(gotIt(record({ right: ['M', 'N'], wrong: ['O'], outside: ['Q'], silent: ['P'], failed: ['R'] })), 'Got it: M, N. Missed it: O. Not counted, outside what they were calibrated on: Q. No clear answer: P. Could not answer: R.');
  assert.equal(gotIt(record({ wrong: ['O'], done: false })), 'Missed it: O. Other models are still answering.');
  assert.equal(gotIt(undefined), '');
});
