import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chosen, counted, refusal } from '../../../../leaderboard/pages/compare/two_sets.js';
import { crc32, zipped } from '../../../../leaderboard/pages/compare/zip.js';

const file = (name, size = 1000, type = '') => ({ name, size, type });

test('a set is one ZIP or up to 200 images within 50 MB', () => {
  assert.equal(refusal([], 'reference'), 'Choose the reference set first.');
  assert.equal(refusal([file('a.zip')], 'reference'), '');
  assert.equal(refusal([file('a.png', 10, 'image/png'), file('b', 10)], 'generated'), '');
  assert.match(refusal([file('a.zip'), file('b.png')], 'generated'), /one ZIP or several images, not both/);
  assert.match(refusal([file('a.csv', 10, 'text/csv')], 'generated'), /^a.csv is neither an image nor a ZIP/);
  assert.equal(refusal(Array(200).fill(file('a.png')), 'generated'), '');
  assert.match(refusal(Array(201).fill(file('a.png')), 'generated'), /^201 images are too many for the generated set/);
  assert.match(refusal([file('a.zip', 50_000_001)], 'reference'), /has 50 MB; at most 50 MB can be sent/);
  assert.equal(refusal([file('a.zip', 0)], 'reference'), 'The reference set is empty.');
});

test('what is chosen and how far it is', () => {
  assert.equal(chosen([file('a.zip', 2_000_000)]), 'a.zip, 2 MB');
  assert.equal(chosen([file('a.png', 1500), file('b.png', 1500)]), '2 images, 3 kB');
  assert.equal(counted({ done: 3, of: 400, left: null }), '3 of 400 images encoded');
  assert.equal(counted({ done: 3, of: 400, left: 200 }), '3 of 400 images encoded, about 3 min left');
});

test('CRC-32 has its check value, and a ZIP its parts', () => {
  assert.equal(crc32(new TextEncoder().encode('123456789')), 0xcbf43926);
  const parts = zipped([{ name: 'a', bytes: new Uint8Array(3) }, { name: 'a', bytes: new Uint8Array(2) }]);
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
  assert.equal(bytes.readUInt32LE(0), 0x04034b50);
  assert.equal(bytes.readUInt32LE(bytes.length - 22), 0x06054b50);
  assert.equal(bytes.readUInt16LE(bytes.length - 22 + 10), 2);
  assert.ok(bytes.includes('2/a'));
});
