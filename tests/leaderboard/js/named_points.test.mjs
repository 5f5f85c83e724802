/** Which names stand at the points of a figure. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { endsFirst, fitting } from '../../../leaderboard/js/named_points.js';

const box = (left, top, width = 60, height = 10) => ({ left, top, right: left + width, bottom: top + height });
const frame = box(0, 0, 1000, 400);
const around = ({ left, top }) => [box(left + 6, top - 16), box(left - 66, top + 6)];
const meet = (a, b) => a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;

test('both ends come first, and every point once', () => {
  for (const count of [0, 1, 2, 3, 10, 47]) {
    const order = endsFirst(count);
    assert.deepEqual([...order].sort((a, b) => a - b), [...Array(count).keys()]);
    assert.deepEqual(order.slice(0, 2), count > 1 ? [0, count - 1] : order);
  }
  assert.deepEqual(endsFirst(5), [0, 4, 2, 1, 3]);
});

for (const across of [900, 260]) {
  test(`names hide neither points nor each other at ${across} px, and the ends have theirs`, () => {
    const points = [...Array(40).keys()].map((at) => box(70 + (at / 39) * (across - 90), 30 + at * 8, 7, 7));
    const sides = points.map(around);
    const chosen = fitting(sides, { taken: points, lines: [], frame: box(0, 0, across, 400) });
    const named = chosen.flatMap((side, at) => (side < 0 ? [] : [sides[at][side]]));
    assert.ok(chosen[0] >= 0 && chosen[39] >= 0 && named.length > 3);
    for (const [at, one] of named.entries()) {
      assert.ok(one.left >= 0 && one.right <= across);
      assert.ok(![...points, ...named.slice(at + 1)].some((other) => meet(one, other)));
    }
  });
}

test('a name crosses the line of an interval only where there would be few', () => {
  const points = [...Array(20).keys()].map((at) => box(80 + at * 44, 100 + at * 2, 7, 7));
  const lines = points.map(({ left }) => box(left + 3, 40, 1, 300));
  const sides = points.map(around);
  const chosen = fitting(sides, { taken: points, lines, frame });
  assert.equal(chosen.filter((side) => side >= 0).length, 6);
  assert.ok(chosen[0] >= 0 && chosen[19] >= 0);
  assert.ok(fitting(sides, { taken: points, lines: [], frame }).filter((side) => side >= 0).length > 6);
});

test('what has no size yet is not shown', () => {
  assert.deepEqual(fitting([[box(0, 0, 0, 0)]], { taken: [], lines: [], frame }), [-1]);
});
