import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inForeignFrame } from '../../../leaderboard/js/frame.js';

function view({ framed = true, around = null, referrer = '' }) {
  const self = { location: around ? { ancestorOrigins: around } : {}, document: { referrer } };
  return Object.assign(self, { self, top: framed ? {} : self });
}

test('a page of its own is in no frame', () => {
  assert.equal(inForeignFrame(view({ framed: false, around: [] })), false);
  assert.equal(inForeignFrame(view({ framed: false, referrer: 'https://evil.example/' })), false);
});

test('the page of a Space is the only frame that counts as the app’s own', () => {
  assert.equal(inForeignFrame(view({ around: ['https://huggingface.co'] })), false);
  for (const around of [['https://evil.example'], ['https://huggingface.co', 'https://evil.example'], ['http://huggingface.co'],
    ['https://huggingface.co.evil.example'], ['https://evil.hf.space', 'https://huggingface.co'], ['null']]) {
    assert.equal(inForeignFrame(view({ around })), true, around.join());
  }
});

test('where the pages around are not named, the one that opened the frame speaks', () => {
  assert.equal(inForeignFrame(view({ referrer: 'https://huggingface.co/' })), false);
  for (const referrer of ['', 'https://evil.example/', 'https://huggingface.co@evil.example/']) {
    assert.equal(inForeignFrame(view({ referrer })), true, referrer);
  }
});
