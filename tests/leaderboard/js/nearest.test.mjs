import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nearest, suggestion } from '../../../leaderboard/js/nearest.js';

const known = ['openai/clip-vit-base-patch32', 'openai/clip-vit-large-patch14', 'mieb-lite', 'a'];

test('the nearest name shares most pairs of letters, whatever the case and what is left out', () => {
  assert.equal(nearest('openai/clip-vit-base-patch23', known), known[0]);
  assert.equal(nearest('CLIP-vit-large-patch14', known), known[1]);
  assert.equal(nearest('mieb-light', known), 'mieb-lite');
});

test('nothing is suggested where nothing is near', () => {
  assert.deepEqual(['zzz', '', 'b'].map((key) => nearest(key, known)), ['', '', '']);
  assert.equal(nearest('x', []), '');
  assert.equal(suggestion('mieb-light', known), ' Did you mean “mieb-lite”?');
  assert.equal(suggestion('zzz', known), '');
});
