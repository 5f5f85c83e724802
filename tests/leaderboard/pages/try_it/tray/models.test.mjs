import assert from 'node:assert/strict';
import { test } from 'node:test';

import { exactly, grouped, matches, selected, written } from '../../../../../leaderboard/pages/try_it/tray/models.js';
import { refusal } from '../../../../../leaderboard/pages/try_it/tray/uploads.js';
import { size } from '../../../../../leaderboard/pages/try_it/words.js';

const model = (key, state = 'ready', usual = false) => ({ key, title: key.toUpperCase(), kind: 'encoder', state, why: 'too large', default: usual });
const models = [model('tiny', 'ready', true), model('ssim', 'ready', true), model('clip', 'download', true), model('big', 'download'), model('giant', 'impossible', true)];
const ticked = (...pairs) => selected(models, new Map(pairs));

test('the ready defaults are ticked, and nothing is downloaded unasked', () => {
  assert.deepEqual(ticked(), ['tiny', 'ssim']);
  assert.equal(written(models, new Map()), null);
});

test('a decision stands above the default, within what is possible', () => {
  assert.deepEqual(ticked(['ssim', false], ['big', true], ['giant', true], ['elsewhere', true]), ['tiny', 'big']);
  assert.deepEqual(written(models, new Map([['ssim', false]])), ['tiny']);
  assert.equal(written(models, new Map([['ssim', true], ['giant', true]])), null);
  assert.deepEqual(written(models, new Map([['ssim', false], ['tiny', false]])), []);
});

test('no more than twelve, and those that were asked for before the usual ones', () => {
  const many = Array.from({ length: 30 }, (_, at) => model(`m${at}`, 'ready', at < 14));
  const keys = selected(many, new Map([['m20', true], ['m29', true]]));
  assert.equal(keys.length, 12);
  assert.deepEqual(keys.slice(-2), ['m20', 'm29']);
});

test('a link gives exactly its models and says which cannot be', () => {
  const { decisions, lost } = exactly(models, ['big', 'giant', '<b>nobody</b>']);
  assert.deepEqual(selected(models, decisions), ['big']);
  assert.equal(lost.length, 2);
  assert.match(lost[0], /GIANT cannot run: too large/);
  assert.match(lost[1], /“<b>nobody<\/b>”/);
});

test('a model that does not exist is named with the nearest that does', () => {
  const { decisions, lost } = exactly(models, ['giannt', 'tiny-clip-of-nobody']);
  assert.deepEqual(lost, ['No model “giannt” answers this. Did you mean “giant”?', 'No model “tiny-clip-of-nobody” answers this.']);
  assert.deepEqual(selected(models, decisions), [], 'no other in its place');
});

test('what cannot answer now is grouped by what stands in the way', () => {
  const reasons = [{ key: 'network', one: 'needs a download: no network here', many: 'need a download: no network here', remedy: 'Connect.' },
    { key: 'disk', one: 'x', many: 'x', remedy: '' }, { key: 'memory', one: 'is too large', many: 'are too large', remedy: 'Get more.' }];
  const away = (key, reason) => ({ ...model(key, 'impossible'), reason });
  const groups = grouped([model('tiny'), model('clip', 'download'), away('a', 'network'), away('big', 'memory'), away('b', 'network')], reasons);
  assert.deepEqual(groups.map(({ key, title, remedy, models: those }) => [key, title, remedy, those.map((one) => one.key)]), [
    ['download', '1 can be downloaded', 'Tick a model: Compare downloads it first.', ['clip']],
    ['network', '2 need a download: no network here', 'Connect.', ['a', 'b']],
    ['memory', '1 is too large', 'Get more.', ['big']],
  ]);
});

test('the search takes every word', () => {
  const clip = { title: 'OpenCLIP ViT-B/32', key: 'laion/clip-vit-b-32', kind: 'encoder' };
  assert.ok(matches(clip, 'b/32 LAION'));
  assert.ok(matches(clip, ''));
  assert.ok(!matches(clip, 'laion dino'));
});

test('files that cannot be images are refused before they are sent', () => {
  const file = (name, type, bytes) => refusal({ name, type, size: bytes });
  assert.equal(file('a.png', 'image/png', 8_000_000), '');
  assert.equal(file('a', '', 10), '');
  assert.match(file('a.png', 'image/png', 8_300_000), /a\.png has 8\.3 MB; at most 8 MB/);
  assert.match(file('a.png', 'image/png', 0), /empty/);
  assert.match(file('a.pdf', 'application/pdf', 10), /not an image/);
});

test('sizes as a download shows them', () => {
  assert.deepEqual([999, 1000, 605_000_000, 1_800_000_000, 16_000_000_000, 8_000_000].map(size), ['999 bytes', '1 kB', '605 MB', '1.8 GB', '16 GB', '8 MB']);
});
