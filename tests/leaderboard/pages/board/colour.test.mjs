import assert from 'node:assert/strict';
import { test } from 'node:test';

import { css, hex, oklch, scale, step, STEPS } from '../../../../leaderboard/pages/board/colour.js';

/** Relative luminance 0..1 of `#rrggbb` (WCAG 2.2). */
function luminance(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast ratio 1..21 of two `#rrggbb` colours (WCAG 2.2). */
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

test('OKLCH of known colours', () => {
  assert.equal(hex(oklch(1, 0, 0)), '#ffffff');
  assert.equal(hex(oklch(0, 0, 0)), '#000000');
  assert.equal(hex(oklch(0.62796, 0.25768, 29.234)), '#ff0000');
});

for (const mode of ['light', 'dark']) {
  test(`${mode}: text on every shade reaches 4.5:1`, () => {
    const shades = scale(mode);
    assert.equal(shades.length, STEPS);
    for (const { background, text } of shades) assert.ok(contrast(background, text) >= 4.5, `${text} on ${background}`);
  });

  test(`${mode}: lightness runs one way, so the order survives without colour`, () => {
    const lights = scale(mode).map(({ background }) => luminance(background));
    const sign = Math.sign(lights.at(-1) - lights[0]);
    assert.equal(sign, mode === 'light' ? -1 : 1);
    for (let at = 1; at < lights.length; at += 1) assert.ok(sign * (lights[at] - lights[at - 1]) > 0);
  });
}

test('shading follows the direction of the column', () => {
  const column = { low: 10, high: 90, higher: true };
  assert.deepEqual([10, 50, 90, 95, 5].map((value) => step(value, column)), [0, (STEPS - 1) / 2, STEPS - 1, STEPS - 1, 0]);
  assert.equal(step(10, { ...column, higher: false }), STEPS - 1);
});

test('nothing to shade: no value, or a column of one value', () => {
  assert.equal(step(null, { low: 0, high: 1, higher: true }), -1);
  assert.equal(step(1, { low: 1, high: 1, higher: true }), -1);
});

test('the style sheet has both modes', () => {
  assert.ok(css().includes('.dark .likeness-board .lk-shade-0{'));
  assert.ok(css().includes(`\n.likeness-board .lk-shade-${STEPS - 1}{`));
});
