/** Names shortened to the room they have: no two alike, and what tells them apart still there. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { linesOf, shortNames } from '../../../../leaderboard/pages/board/names.js';

const width = (text) => text.length;
const within = (room, lines = 1) => (text) => linesOf(text, room, width).length <= lines;

test('a name that fits stays as it is', () => {
  assert.deepEqual([...shortNames(['LIQE', 'CLIP ViT-L/14'], within(20)).values()], ['LIQE', 'CLIP ViT-L/14']);
});

test('the part that tells two names apart is never cut away', () => {
  const names = ['OpenCLIP ViT-L/14 LAION-2B', 'OpenCLIP ViT-B/32 LAION-2B', 'SigLIP SO400M patch 14 at 224 px', 'SigLIP SO400M patch 14 at 384 px'];
  const shown = shortNames(names, within(20));
  for (const [name, part] of [[0, 'L/14'], [1, 'B/32'], [2, '224'], [3, '384']]) assert.ok(shown.get(names[name]).includes(part), shown.get(names[name]));
  for (const text of shown.values()) assert.ok(text.length <= 20 && text.includes('…'));
});

test('a name keeps its beginning, where its end is shared', () => {
  const names = [1, 2].flatMap((at) => ['blur', 'dropped modes', 'memorised copies'].map((fault) => `Drawn ${at}: ${fault} (synthetic)`));
  for (const text of shortNames(names, within(30)).values()) assert.match(text, /^Drawn \d: (blur|dropped modes|memorised copies)/);
});

test('no two names are shown alike, however little room there is', () => {
  const names = Array.from({ length: 40 }, (_, at) => `Model of a family ${'xyz'[at % 3]}${at} in a long name of many words ${at % 7}`);
  for (const room of [12, 16, 24, 40]) {
    const shown = shortNames(names, within(room));
    assert.equal(new Set(shown.values()).size, names.length, `in ${room}`);
  }
});

test('a line ends between words, or in a word wider than the room', () => {
  assert.deepEqual(linesOf('OpenCLIP ViT-bigG/14 LAION-2B', 16, width), ['OpenCLIP ViT-', 'bigG/14 LAION-2B']);
  assert.deepEqual(linesOf('one two', 10, width), ['one two']);
  assert.deepEqual(linesOf('SigLIP Base/16 512 px', 19, width), ['SigLIP ', 'Base/16 512 px'], 'no word is left alone on its line');
  assert.deepEqual(linesOf('abcdefghij', 4, width), ['abcd', 'efgh', 'ij']);
});
