import assert from 'node:assert/strict';
import { test } from 'node:test';

import { near, nearest, suggestion, wordsOf } from '../../../leaderboard/js/nearest.js';

const known = ['openai/clip-vit-base-patch32', 'openai/clip-vit-large-patch14', 'clipscore', 'clip', 'mieb-lite', 'a'];

test('letters and numbers are words of their own, however they are joined', () => {
  for (const text of ['ViT-L/14', 'vit l 14', 'VIT_L-14', 'ViT-L14']) assert.deepEqual(wordsOf(text), ['vit', 'l', '14']);
  assert.deepEqual(wordsOf('InternVL2.5 é RelaxSym'), ['internvl', '2.5', 'e', 'relax', 'sym']);
  assert.deepEqual(wordsOf('<b>&"</b>'), ['b', 'b']);
});

test('one letter added, missing, changed or swapped is one mistake', () => {
  for (const word of ['sigllip', 'sglip', 'sigmip', 'isglip']) assert.ok(near(word, 'siglip', 1), word);
  assert.ok(near('siglp', 'sigliplarge', 1));
  assert.ok(!near('clip', 'blop', 1) && near('clip', 'blop', 2));
  assert.ok(!near('symmetry', 'sym', 2));
});

test('the nearest name has the words that were typed, their beginnings, or those with a mistake less', () => {
  assert.equal(nearest('openai/clip-vit-base-patch23', known), known[0]);
  assert.equal(nearest('CLIP-vit-large-patch14', known), known[1]);
  assert.equal(nearest('mieb-light', known), 'mieb-lite');
  assert.equal(nearest('clip', known), 'clip', 'not what it is the beginning of');
  assert.equal(nearest('clips', known), 'clipscore');
});

test('nothing is suggested where nothing is near', () => {
  assert.deepEqual(['zzz', '', 'b', '   '].map((key) => nearest(key, known)), ['', '', '', '']);
  assert.equal(nearest('x', []), '');
  assert.equal(suggestion('mieb-light', known), ' Did you mean “mieb-lite”?');
  assert.equal(suggestion('zzz', known), '');
});
