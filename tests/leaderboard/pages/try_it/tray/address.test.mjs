import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parse, write } from '../../../../../leaderboard/pages/try_it/tray/address.js';

const examples = new Set(['cat', 'cat-face', 'cup', 'text-cat']);
const usual = { mode: '', question: 'quality', inputs: null, models: null };

test('an empty query names nothing and is written empty', () => {
  assert.deepEqual(parse('', examples), { ...usual, whole: true, lost: [] });
  assert.equal(write('', usual), '');
});

test('every part survives the trip, and others keep theirs', () => {
  const search = 'mode=choice&inputs=cat,cat-face,cat&models=lab/model-1,ssim&question=contrast';
  const { lost, whole, ...state } = parse(`?${search}`, examples);
  assert.deepEqual(state, { mode: 'choice', question: 'contrast', inputs: ['cat', 'cat-face', 'cat'], models: ['lab/model-1', 'ssim'] });
  assert.deepEqual([lost, whole], [[], true]);
  assert.equal(write('', state), search);
  assert.equal(write('?__theme=dark&mode=pair&inputs=cup&view=a+b', state), `__theme=dark&view=a+b&${search}`);
});

test('no model at all is another thing than the usual ones', () => {
  assert.equal(write('', { ...usual, models: [] }), 'models=none');
  assert.deepEqual(parse('?models=none', examples).models, []);
  assert.equal(parse('', examples).models, null);
});

test('what does not exist is left out and named in a sentence', () => {
  const { mode, question, inputs, whole, lost } = parse('?mode=toString&question=taste&inputs=cat,dog,__proto__,cup', examples);
  assert.deepEqual([mode, question, inputs, whole], ['', 'quality', ['cat', 'cup'], false]);
  assert.equal(lost.length, 3);
  assert.match(lost[0], /a mode “toString”/);
  assert.match(lost[1], /a question “taste”/);
  assert.match(lost[2], /“dog”, “__proto__”/);
});

test('long links are cut', () => {
  const { inputs, lost } = parse(`?inputs=${Array(20).fill('cat').join(',')}&mode=${'m'.repeat(5000)}`, examples);
  assert.equal(inputs.length, 9);
  assert.match(lost[1], /more than 9/);
  assert.ok(lost[0].length < 150);
  assert.equal(parse(`?models=${Array.from({ length: 40 }, (_, at) => `m${at}`)}`, examples).models.length, 12);
});
