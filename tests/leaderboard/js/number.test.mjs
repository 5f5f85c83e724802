import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { parametersText, rounded } from '../../../leaderboard/js/number.js';

const shared = JSON.parse(readFileSync(new URL('../../rounding.json', import.meta.url)));

test('the cases that both languages pass', () => {
  for (const [value, digits, text] of shared.cases) assert.equal(rounded(value, digits), text, `${value} with ${digits}`);
});

test('sizes that both languages write alike', () => {
  for (const [millions, text] of shared.parameters) assert.equal(parametersText(millions), text);
  assert.equal(parametersText(null), '—');
});

test('what is missing has no digits', () => {
  for (const value of [NaN, Infinity, null, undefined]) assert.throws(() => rounded(value, 1), RangeError);
});
