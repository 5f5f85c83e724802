import assert from 'node:assert/strict';
import { test } from 'node:test';

import { counted, ended, sampled } from '../../../../leaderboard/pages/try_it/batch.js';

const at = (change) => ({ state: 'running', done: 3, of: 200, share: 0.1, left: null, problems: 0, ...change });

test('the sample holds the first of each ready comparison beside its others, and quotes what must be', () => {
  const comparisons = [{ title: 'Which, "A" or B?', mode: 'choice', inputs: ['cat', 'face', 'cheek'] },
    { title: 'Sharp?', mode: 'quality', inputs: ['cup', 'blurred'] }, { title: 'Pair', mode: 'pair', inputs: ['cat', 'text-cat'] }];
  assert.equal(sampled(comparisons), ['"name","first","second"', '"Which, ""A"" or B?","example:cat","example:face"',
    '"Which, ""A"" or B?","example:cat","example:cheek"', '"Pair","example:cat","example:text-cat"', ''].join('\n'));
  assert.equal(sampled([]), '"name","first","second"\n');
});

test('how far it is says only what is known', () => {
  assert.equal(counted(at({})), '3 of 200 pairs');
  assert.equal(counted(at({ left: 0.2, problems: 2 })), '3 of 200 pairs, about 1 s left, 2 without a score');
  assert.equal(counted(at({ left: 89.1 })), '3 of 200 pairs, about 90 s left');
  assert.equal(counted(at({ left: 340, done: 0, of: 1 })), '0 of 1 pair, about 6 min left');
});

test('the end says what is finished and what is missing', () => {
  assert.equal(ended(at({ state: 'done', done: 200 })), '200 pairs done.');
  assert.equal(ended(at({ state: 'done', done: 1, of: 1, problems: 1 })), '1 pair done. 1 row without every score: the column problem says why.');
  assert.equal(ended(at({ state: 'stopped', problems: 2 })), 'Stopped: 3 of 200 pairs are finished. 2 rows without every score: the column problem says why.');
});
