import assert from 'node:assert/strict';
import { test } from 'node:test';

import { carried, encodedKey, encodedQuery, filledPattern, withoutTheme } from '../../../leaderboard/js/address.js';

const KEYS = ['openai/clip-vit-base-patch32', 'hf-hub:a/b~computed', 'a&b=c#d?e', 'x+y z', 'ε 100%', 'a,b'];

test('a key comes back from an address as it was, and its slashes and colons can be read there', () => {
  for (const key of KEYS) {
    assert.equal(new URL(`model?model=${encodedKey(key)}`, 'https://a.example/').searchParams.get('model'), key);
  }
  assert.equal(encodedKey('hf-hub:a/b~computed'), 'hf-hub:a/b~computed');
  assert.equal(encodedKey('a&b,c d'), 'a%26b%2Cc%20d');
});

test('a query comes back as it was, in its order', () => {
  const pairs = KEYS.map((key, at) => [`${at} ${key}`, key]);
  assert.deepEqual([...new URLSearchParams(encodedQuery(pairs))], pairs);
  assert.equal(encodedQuery([['select', 'a/b~published,c'], ['q', 'two words']]), 'select=a/b~published,c&q=two+words');
  assert.equal(encodedQuery([]), '');
});

test('a pattern takes each value where its name stands, and nothing for a name without one', () => {
  for (const key of KEYS) {
    assert.equal(new URL(filledPattern('model?model={model}', { model: key }), 'https://a.example/').searchParams.get('model'), key);
  }
  assert.equal(filledPattern('task?task={task}&model={model}', { task: 'a b' }), 'task?task=a%20b&model=');
});

test('links of the app keep the theme of the address, once; links to elsewhere and copied ones have none', () => {
  const page = 'https://a.example/claims?__theme=dark';
  const cases = [['https://a.example/board', 'https://a.example/board?__theme=dark'],
    ['https://a.example/board?q=a/b,c#x', 'https://a.example/board?q=a/b,c&__theme=dark#x'],
    ['https://a.example/board?__theme=light&q=1#x', 'https://a.example/board?__theme=dark&q=1#x'],
    ['https://b.example/', 'https://b.example/'], ['blob:https://a.example/1', 'blob:https://a.example/1']];
  for (const [address, expected] of cases) assert.equal(carried(address, page), expected);
  assert.equal(carried('https://a.example/board', 'https://a.example/'), 'https://a.example/board');
  for (const query of ['?__theme=dark', '?q=a/b&__theme=dark', '?__theme=dark&q=a/b']) {
    assert.equal(withoutTheme(`https://a.example/board${query}#x`), `https://a.example/board${query.includes('q=') ? '?q=a/b' : ''}#x`);
  }
});
