import assert from 'node:assert/strict';
import { test } from 'node:test';

import { kindWords } from '../../../leaderboard/js/kinds.js';
import { kindTitle } from '../../../leaderboard/pages/board/rows.js';

test('a kind has the same words in the tray and, with a capital, on the board', () => {
  assert.deepEqual(['encoder', 'metric', 'mllm', 'generator', 'distribution'].map(kindWords),
    ['encoder', 'perceptual metric', 'vision-language model', 'generator', 'distribution metric']);
  assert.deepEqual(['metric', 'mllm'].map(kindTitle), ['Perceptual metric', 'Vision-language model']);
});

test('an unknown kind is its own word', () => {
  assert.equal(kindWords('oracle'), 'oracle');
  assert.equal(kindWords('constructor'), 'constructor');
  assert.deepEqual(['oracle', ''].map(kindTitle), ['Oracle', 'Not stated']);
});
