import assert from 'node:assert/strict';
import { test } from 'node:test';

import { claimUrl, report } from '../../../../leaderboard/pages/claims/card.js';
import { answer, COLUMNS, facetsOf } from '../../../../leaderboard/pages/claims/claims.js';
import { parse, select, write } from '../../../../leaderboard/js/facets.js';

const claims = [
  { key: 'a-10', paper: 'A', verdict: 'conflict', severity: 'detail', claim: 'Ten models', printed: '10', note: '' },
  { key: 'b/two', paper: 'B', verdict: 'conflict', severity: 'headline', claim: 'Two models', printed: '2', note: 'x' },
  { key: 'b-fid', paper: 'B', verdict: 'reproduces', severity: 'table', claim: 'Mean of FID', printed: '9.5', note: '' },
].map((claim) => ({ ...claim, text: Object.values(claim).join(' ').toLowerCase() }));
const all = { claim: '', paper: '', verdict: '', severity: '', q: '', sort: null };
const known = { facets: facetsOf(claims), sorts: COLUMNS.map(({ key }) => key) };
const names = (state) => select(claims, { ...all, ...state }, { ...known, columns: COLUMNS }).map(({ claim }) => claim);

test('an address chooses what there is; a claim that it names leaves the others in the list', () => {
  const state = { claim: 'b/two', severity: 'headline', paper: 'B', verdict: 'cannot be recomputed', q: 'ρ²', sort: { key: 'claim', down: false } };
  assert.match(write(state, ''), /^claim=b\/two&/);
  assert.deepEqual(parse(`?${write(state, '')}`, known), { state, ignored: [] });
  assert.deepEqual(parse('?paper=C&verdict=maybe&severity=fatal&claim=b&sort=evil', known).ignored, ['claim', 'paper', 'verdict', 'severity', 'sort']);
  assert.equal(names({ claim: 'b/two' }).length, 3);
});

test('paper, verdict and every word of the search must fit', () => {
  assert.deepEqual(names({}), ['Ten models', 'Two models', 'Mean of FID']);
  assert.deepEqual(names({ paper: 'B', verdict: 'conflict' }), ['Two models']);
  assert.deepEqual(names({ severity: 'table' }), ['Mean of FID']);
  assert.deepEqual(names({ q: 'MODELS two' }), ['Two models']);
  assert.deepEqual(names({ q: 'nothing' }), []);
});

test('sorting is by number where there are numbers, blanks last both ways', () => {
  assert.deepEqual(names({ sort: { key: 'printed', down: false } }), ['Two models', 'Mean of FID', 'Ten models']);
  assert.deepEqual(names({ sort: { key: 'note', down: true } })[0], 'Two models');
  assert.deepEqual(names({ sort: { key: 'note', down: false } })[0], 'Two models');
  assert.deepEqual(names({ sort: { key: 'verdict', down: true } })[0], 'Mean of FID');
  assert.deepEqual(names({ sort: { key: 'severity', down: false } }), ['Two models', 'Mean of FID', 'Ten models']);
});

test('the answer counts what fails by how much depends on it', () => {
  const { failingHeadlines, ...counts } = answer(claims, { recomputed: 3, conflicts: 2 });
  assert.deepEqual(counts, { recomputed: 3, conflicts: 2, headlines: 1, failingResults: 0, failingDetails: 1 });
  assert.deepEqual(failingHeadlines.map(({ key }) => key), ['b/two']);
});

test('a claim has an address, which a report of a mistake names beside its figures', () => {
  assert.equal(claimUrl('b/two & 3'), 'claims?claim=b/two%20%26%203');
  const claim = { ...claims[1], where: 'Table 1', recomputed: '3', formula: 'a count' };
  const text = report(claim, 'https://example.org/claims?claim=b/two');
  for (const part of ['Two models', 'B, Table 1', 'Printed: 2', 'Recomputed: 3', 'a count', 'Conflict', 'claims?claim=b/two', 'What is wrong']) {
    assert.ok(text.includes(part), part);
  }
  assert.ok(report({ ...claim, printed: '', recomputed: '' }, '').includes('Recomputed: cannot be recomputed'));
});
