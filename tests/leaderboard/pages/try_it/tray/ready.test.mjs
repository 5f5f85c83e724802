import assert from 'node:assert/strict';
import { test } from 'node:test';

import { expectedAnswer } from '../../../../../leaderboard/pages/try_it/tray/ready.js';

const titles = new Map([['cat', 'A cat'], ['cup', 'A cup'], ['rocket', 'A rocket']]);

test('what is expected is named by its letter and its title', () => {
  assert.equal(expectedAnswer({ mode: 'choice', inputs: ['cat', 'cup', 'rocket'], expected: 1 }, titles), 'B, A rocket');
  assert.equal(expectedAnswer({ mode: 'odd', inputs: ['cat', 'cup', 'rocket'], expected: 0 }, titles), 'A, A cat');
  assert.equal(expectedAnswer({ mode: 'pair', inputs: ['cat', 'cup'], expected: null }, titles), 'a matching pair');
});
