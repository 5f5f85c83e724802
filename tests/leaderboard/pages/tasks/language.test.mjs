import assert from 'node:assert/strict';
import { test } from 'node:test';

import { languageName } from '../../../../leaderboard/pages/tasks/tasks.js';

test('a language in words, and the code where there are none', () => {
  assert.equal(languageName('deu', {}), 'German');
  assert.equal(languageName('eng', {}), 'English');
  assert.equal(languageName('not a code', {}), 'not a code');
});

test('the app’s own name comes before the browser’s', () => {
  assert.equal(languageName('ben', { ben: 'Bengali' }), 'Bengali');
});
