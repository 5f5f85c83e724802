import assert from 'node:assert/strict';
import { test } from 'node:test';

import { standing } from '../../../../leaderboard/pages/models/models.js';

test('a model is shown in a suite that ranks it, also where one that does not has more categories', () => {
  const of = (key, rank, categories) => ({ suite: { key, categories: Array(categories).fill('') }, rank });
  const row = { standings: [of('whole', null, 10), of('part', 4, 1), of('other', 2, 3)] };
  assert.equal(standing(row, {}).suite.key, 'other');
  assert.equal(standing(row, { suite: 'whole' }).suite.key, 'whole');
  assert.equal(standing({ standings: row.standings.slice(0, 1) }, {}).suite.key, 'whole');
  assert.equal(standing({ standings: [] }, {}), null);
});
