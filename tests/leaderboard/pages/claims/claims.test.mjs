import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parse, select, write } from '../../../../leaderboard/pages/claims/claims.js';

const PAPERS = ['A', 'B'];
const claims = [
  { paper: 'A', verdict: 'conflict', claim: 'Ten models', printed: '10', note: '' },
  { paper: 'B', verdict: 'conflict', claim: 'Two models', printed: '2', note: 'x' },
  { paper: 'B', verdict: 'reproduces', claim: 'Mean of FID', printed: '9.5', note: '' },
].map((claim) => ({ ...claim, text: Object.values(claim).join(' ').toLowerCase() }));
const all = { paper: '', verdict: '', q: '', sort: null };
const names = (state) => select(claims, { ...all, ...state }).map(({ claim }) => claim);

test('an address is read without trust and named when it is wrong', () => {
  assert.deepEqual(parse('?paper=B&verdict=conflict&q=fid&sort=-printed', PAPERS), {
    state: { paper: 'B', verdict: 'conflict', q: 'fid', sort: { key: 'printed', down: true } }, ignored: [],
  });
  assert.deepEqual(parse('?paper=C&verdict=maybe&sort=evil', PAPERS), { state: all, ignored: ['paper', 'verdict', 'sort'] });
});

test('a state is written without its defaults and keeps what is not its own', () => {
  assert.equal(write(all, '?paper=A&__theme=dark'), '__theme=dark');
  const state = { paper: 'B', verdict: 'cannot be recomputed', q: 'ρ²', sort: { key: 'claim', down: false } };
  assert.deepEqual(parse(`?${write(state, '')}`, PAPERS).state, state);
});

test('paper, verdict and every word of the search must fit', () => {
  assert.deepEqual(names({}), ['Ten models', 'Two models', 'Mean of FID']);
  assert.deepEqual(names({ paper: 'B', verdict: 'conflict' }), ['Two models']);
  assert.deepEqual(names({ q: 'MODELS two' }), ['Two models']);
  assert.deepEqual(names({ q: 'nothing' }), []);
});

test('sorting is by number where there are numbers, blanks last both ways', () => {
  assert.deepEqual(names({ sort: { key: 'printed', down: false } }), ['Two models', 'Mean of FID', 'Ten models']);
  assert.deepEqual(names({ sort: { key: 'note', down: true } })[0], 'Two models');
  assert.deepEqual(names({ sort: { key: 'note', down: false } })[0], 'Two models');
  assert.deepEqual(names({ sort: { key: 'verdict', down: true } })[0], 'Mean of FID');
});
