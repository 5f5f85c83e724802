import assert from 'node:assert/strict';
import { test } from 'node:test';

import { partOf, partTasks, scopeOf, scopeOfPayload } from '../../../../leaderboard/pages/board/scope.js';
import { parse, rankQuery, tableQuery, write } from '../../../../leaderboard/pages/board/state.js';
import { payload } from './payload.mjs';

function judged(more = {}) {
  const given = payload();
  given.choices.splits = [
    { key: 'cj', title: 'Colour jitter', tasks: ['u/nights', 'u/fid'] }, { key: 'r', title: 'Rotation', tasks: ['u/bapps'] },
  ];
  Object.assign(given.suite, more);
  return given;
}

test('a data set and a split name the tasks they have in common', () => {
  const given = judged();
  assert.deepEqual(partTasks(given, { split: 'cj' }), ['u/nights', 'u/fid']);
  assert.deepEqual(partTasks(given, { dataset: 'IQA', split: 'cj' }), ['u/fid']);
  assert.equal(partTasks(given, { dataset: 'IQA', split: 'r' }), null);
  assert.equal(partTasks(given, { dataset: 'nope' }), null);
  assert.equal(partTasks(given, { split: '__proto__' }), null);
});

test('tasks that are a part of the suite are known again, others are not', () => {
  const given = judged();
  assert.deepEqual(partOf(given, ['u/nights', 'u/fid']), { dataset: '', split: 'cj' });
  assert.deepEqual(partOf(given, ['u/nights', 'u/bapps']), { dataset: 'Img-2AFC', split: '' });
  assert.equal(partOf(given, ['u/nights', 'u/bapps', 'u/fid']), null);
  assert.equal(partOf(given, []), null);
  assert.equal(partOf(payload(), ['u/fid']), null, 'a suite without splits has no such choice');
});

test('a part in the address: its tasks count and are the columns shown, and it stays in the address', () => {
  const given = judged();
  const { state, ignored } = parse('?split=cj', given);
  assert.deepEqual(ignored, []);
  assert.deepEqual([state.tasks, state.families, state.columns], [['u/nights', 'u/fid'], [], ['u/nights', 'u/fid']]);
  assert.equal(write(state, given, '', 'small'), 'split=cj');
  assert.equal(rankQuery(state, given), 'tasks=u/nights,u/fid');
  const shown = parse('?dataset=IQA&columns=u/bapps', given).state;
  assert.deepEqual(shown.columns, ['u/bapps', 'u/fid']);
  assert.equal(write(shown, given, '', 'small'), 'columns=u/bapps&dataset=IQA');
});

test('a part that is unknown, or empty, is named and ignored', () => {
  const given = judged();
  assert.deepEqual(parse('?split=zz', given).ignored, ['split=zz']);
  assert.deepEqual(parse('?dataset=IQA&split=r', given).ignored, ['dataset=IQA', 'split=r']);
  assert.deepEqual(parse('?split=cj', payload()).ignored, ['split=cj']);
});

test('condition, metric and language: read from the address as keys, written from the payload, sent with every question', () => {
  assert.equal(scopeOf('?condition=sensitive&metric=relax_sym&suite=x'), 'condition=sensitive&metric=relax_sym');
  assert.equal(scopeOf('?suite=mieb&language=swa'), 'language=swa');
  assert.equal(scopeOf('?condition=../etc&metric=<b>'), '');
  const given = judged({ condition: 'sensitive', metric: '' });
  assert.equal(scopeOfPayload(given), 'condition=sensitive');
  const { state } = parse('?condition=sensitive&coverage=0.5', given);
  assert.equal(write(state, given, '', 'small'), 'condition=sensitive&coverage=0.5');
  assert.equal(tableQuery(state, given), 'condition=sensitive&coverage=0.5');
  assert.equal(rankQuery(state, given), 'coverage=0.5');
});
