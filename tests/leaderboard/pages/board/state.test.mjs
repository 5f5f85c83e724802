import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compareAddress } from '../../../../leaderboard/pages/board/selection.js';
import { defaults, ignoredInWords, parse, rankQuery, suiteOf, write } from '../../../../leaderboard/pages/board/state.js';
import { payload } from './payload.mjs';

const given = payload();
const trip = (search) => {
  const { state, ignored } = parse(search, given);
  return { query: write(state, given, '', 'small'), state, ignored };
};

test('an empty query is the default state and writes an empty query', () => {
  const { query, state, ignored } = trip('');
  assert.deepEqual(state, defaults(given));
  assert.deepEqual(ignored, []);
  assert.equal(query, '');
});

test('every part of the state survives the trip through the query string', () => {
  const search = 'q=clip+vit%26&sort=-u/nights&kind=encoder,metric&modality=image&open=yes&license=mit,unknown&released=2023,unknown&trained=no,unknown&origin=computed'
    + '&group=specialised&models=lab/alpha,lab/beta&families=IQA&columns=u/nights,u/fid&w=IQA:3'
    + '&coverage=0.5&tasks=u/nights,u/bapps&select=lab/alpha~published,lab/beta~published';
  const { query, state, ignored } = trip(`?${search}`);
  assert.deepEqual(ignored, []);
  assert.equal(query, search);
  assert.deepEqual(state.sort, { key: 'u/nights', down: true });
  assert.equal(state.weights.get('IQA'), 3);
});

test('what the payload does not know falls back to its default and is listed', () => {
  const { query, state, ignored } = trip('?kind=encoder,robot&sort=__proto__&released=1066&trained=maybe&coverage=2&w=IQA:x,Nope:1&columns=u/nope&preset=toString&select=a~b');
  assert.equal(query, 'kind=encoder');
  assert.deepEqual(state.sort, { key: 'rank', down: false });
  assert.deepEqual(ignored.sort(), ['columns=u/nope', 'coverage=2', 'kind=robot', 'preset=toString', 'released=1066', 'select=a~b',
    'sort=__proto__', 'trained=maybe', 'w=IQA:x', 'w=Nope:1'].sort());
});

test('what is ignored is named with the nearest that there is', () => {
  const { ignored } = trip('?models=lab/alfa,zzz&tasks=u/night&kind=robot');
  assert.equal(ignoredInWords([...ignored, 'suite=smal'], given), 'Ignored in the address, unknown to this table: '
    + 'kind=robot, models=lab/alfa (did you mean “lab/alpha”?), models=zzz, tasks=u/night (did you mean “u/nights”?), suite=smal (did you mean “small”?)');
});

test('the origin: published by default, all on demand, and whatever the address names', () => {
  assert.equal(trip('?origin=published').query, '');
  assert.equal(trip('?origin=all').query, 'origin=all');
  assert.deepEqual(trip('?origin=all').state.origin, []);
  assert.deepEqual(trip('?origin=robot').state.origin, ['published']);
  assert.deepEqual(trip('?select=lab/gamma~published').state.origin, []);
  assert.deepEqual(trip('?models=lab/gamma').state.origin, []);
  assert.deepEqual(trip('?models=lab/alpha').state.origin, ['published']);
});

test('the drawn intervals and facts are shown on demand', () => {
  assert.equal(trip('?late=show&dimension=show&released=2021').query, 'released=2021&dimension=show&late=show');
  assert.equal(trip('?interval=show').query, 'interval=show');
  assert.equal(trip('?interval=maybe').query, '');
});

test('estimates are off until they are asked for, and asked of the server then', () => {
  const { query, state } = trip('?estimates=show');
  assert.equal(query, 'estimates=show');
  assert.equal(rankQuery(state, given), 'estimates=show');
  assert.equal(rankQuery(defaults(given), given), '');
});

test('hostile values stay text and are cut short', () => {
  const hostile = `<img src=x onerror=alert(1)>${'y'.repeat(500)}`;
  const { ignored, state } = trip(`?kind=${encodeURIComponent(hostile)}&q=${encodeURIComponent(hostile)}`);
  assert.equal(ignored.length, 1);
  assert.ok(ignored[0].length <= 70);
  assert.equal(state.q.length, 200);
});

test('parameters of others in the query string stay', () => {
  assert.equal(write(defaults(given), given, '?__theme=dark&kind=encoder', 'small'), '__theme=dark');
});

test('a range of sizes and pinned rows are in the address', () => {
  const whole = 'min_parameters=150000000&max_parameters=1000000000&size=unknown&pin=lab/delta~published,lab/alpha~published';
  assert.equal(trip(`?${whole}`).query, whole);
  assert.equal(trip('?size=unknown').query, 'size=unknown');
  const { state, ignored } = trip('?min_parameters=-1&max_parameters=much&size=huge&usable=no&pin=nobody');
  assert.deepEqual(ignored.sort(), ['max_parameters=much', 'min_parameters=-1', 'pin=nobody', 'size=huge', 'usable=no']);
  assert.deepEqual([state.sizes.min, state.sizes.max], [null, null]);
});

test('a suite other than the page’s own is named', () => {
  assert.equal(write(defaults(given), given, '', 'other'), 'suite=small');
  assert.equal(suiteOf('?suite=mieb-lite'), 'mieb-lite');
  assert.equal(suiteOf('?suite=../../etc'), '');
});

test('weights equal to a preset are written as the preset', () => {
  assert.equal(trip('?w=IQA:2').query, 'preset=iqa');
  assert.equal(trip('?preset=iqa').state.weights.get('IQA'), 2);
});

test('weights which are all 0 are refused', () => {
  const { state, ignored } = trip('?w=IQA:0,Img-2AFC:0');
  assert.deepEqual([...state.weights.values()], [1, 1]);
  assert.deepEqual(ignored, ['w=all weights 0']);
});

test('columns: all, none of the families, and a default column taken away', () => {
  assert.equal(trip('?columns=all').query, 'columns=all');
  assert.equal(trip('?families=none').query, 'families=none');
  const other = payload();
  other.columns[2].default = true;
  const { state } = parse('?columns=-u/nights,u/bapps', other);
  assert.deepEqual(state.columns, ['u/bapps']);
  assert.equal(write(state, other, '', 'small'), 'columns=u/bapps,-u/nights');
});

test('the server is asked for ranks only where they differ from its own', () => {
  assert.equal(rankQuery(defaults(given), given), '');
  assert.equal(rankQuery(trip('?kind=encoder&q=a').state, given), '');
  assert.equal(rankQuery(trip('?w=IQA:2&coverage=0.5&tasks=u/fid').state, given), 'w=IQA:2&coverage=0.5&tasks=u/fid');
});

test('the address of a comparison has the models, the column and the rule; rows of several origins are named', () => {
  const given = payload();
  const { state } = parse('?select=lab/beta~published,lab/alpha~published&sort=-IQA&w=IQA:2', given);
  assert.equal(compareAddress(state, given), 'compare?models=lab/beta,lab/alpha&suite=small&origin=published&by=IQA&w=IQA:2');
  const other = given.rows.find(({ origin }) => origin !== 'published');
  const mixed = { ...defaults(given), select: ['lab/beta~published', other.id] };
  assert.equal(compareAddress(mixed, given), `compare?models=lab/beta~published,${other.id}&suite=small`);
});

test('at most six rows are selected', () => {
  const many = payload();
  many.rows = Array.from({ length: 8 }, (_, at) => ({ ...many.rows[0], id: `r${at}` }));
  const { state, ignored } = parse(`?select=${many.rows.map(({ id }) => id)}`, many);
  assert.equal(state.select.length, 6);
  assert.deepEqual(ignored, ['select=r6', 'select=r7']);
});
