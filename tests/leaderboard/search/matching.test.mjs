import assert from 'node:assert/strict';
import { test } from 'node:test';

import { addressOf, find, prepare } from '../../../leaderboard/search/matching.js';

const kinds = [['Pages', ''], ['Models', 'model?model='], ['Metrics', ''], ['Languages', 'board?suite=mieb&language='], ['Claims', 'claims?claim='], ['Docs', '']];
const index = prepare({
  kinds,
  entries: [
    [0, 'Judges', 'page', 'judges', 'symmetry order flips', 1],
    [1, 'CLIP ViT-L/14', 'OpenAI, encoder', 'openai/clip-vit-large-patch14', '', 1],
    [1, 'CLIP-L/14 (text)', 'encoder', 'x/clip-l-14-text', '', 0],
    [1, 'SigLIP SO400M/14 384 px', 'Google', 'google/siglip-so400m-patch14-384', 'SoViT', 1],
    [1, 'DINOv2 base', 'Meta', 'facebook/dinov2-base', '', 1],
    [2, '1-RelaxSym', 'Share of pairs rated alike', 'board?suite=pairbench&metric=relax_sym', 'symmetry', 1],
    [3, 'Swahili', '3 models', 'swa', 'language best for sw swh', 1],
    [4, 'CLIP ViT-L/14: mean & range', 'MIEB, Table 2: conflict', 'k7', '', 0],
    [5, 'How ranks are computed', 'documentation', 'docs/ranks#how-ranks-are-computed', '', 0],
    [5, 'Tie classes', 'About', 'about#tie-classes', '', 0],
  ],
});
const titles = (text) => find(text, index).groups.flatMap(({ entries }) => entries.map(({ title }) => title));

test('the spellings of CLIP ViT-L/14 lead to it', () => {
  for (const text of ['CLIP-L/14', 'CLIP L/14', 'ViT-L-14', 'clip vit-l/14', 'openai/clip-vit-large-patch14', 'vitl14']) {
    assert.ok(titles(text).includes('CLIP ViT-L/14'), text);
  }
  assert.equal(titles('openai/clip-vit-large-patch14')[0], 'CLIP ViT-L/14');
});

test('other names lead to a metric, a page and a language', () => {
  assert.deepEqual(titles('symm').sort(), ['1-RelaxSym', 'Judges']);
  assert.deepEqual(titles('relaxsym'), ['1-RelaxSym']);
  assert.deepEqual(titles('swahili'), ['Swahili']);
  assert.deepEqual(titles('dino v2'), ['DINOv2 base']);
});

test('a small mistake in a word is forgiven where nothing fits as written, and nonsense finds nothing', () => {
  assert.deepEqual(titles('siglpi'), ['SigLIP SO400M/14 384 px']);
  assert.deepEqual(titles('symetry').sort(), ['1-RelaxSym', 'Judges']);
  for (const text of ['zzzzqqqq', '', '   ', '/', '%00', '١٢٣٤', 'x'.repeat(10_000)]) assert.deepEqual(titles(text), [], text.slice(0, 20));
});

test('a question leads to its method, whatever its small words', () => {
  assert.equal(titles('how is the rank computed?')[0], 'How ranks are computed');
  assert.deepEqual(titles('what is a tie class'), ['Tie classes']);
});

test('what may be meant is told from what is found', () => {
  assert.ok(find('siglip', index).exact);
  for (const text of ['siglpi', 'siglip zzzzqqqq', 'symetry nothingelse']) {
    const { exact, groups } = find(text, index);
    assert.ok(!exact && groups.length, text);
  }
  assert.deepEqual(find(`<b>${'x'.repeat(150)}`, index), { groups: [], exact: false });
});

test('what is best comes first and kinds stay together', () => {
  const groups = find('clip l 14', index).groups.map(({ kind }) => kinds[kind][0]);
  assert.deepEqual(groups, ['Models', 'Claims']);
  assert.equal(titles('clip')[0], 'CLIP ViT-L/14');
});

test('an address holds its key as text', () => {
  const [claims] = find('mean range', index).groups;
  assert.equal(addressOf(claims.entries[0], kinds), 'claims?claim=k7');
  assert.equal(addressOf({ kind: 1, title: 'x', key: 'a/b?c&d' }, kinds), 'model?model=a/b%3Fc%26d');
  assert.equal(addressOf({ kind: 0, title: 'Overview', key: '' }, kinds), './');
});
