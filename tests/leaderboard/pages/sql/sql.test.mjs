import assert from 'node:assert/strict';
import { test } from 'node:test';

import { csv, json, safeCell } from '../../../../leaderboard/pages/sql/files.js';
import { parse, shown, widths, write } from '../../../../leaderboard/pages/sql/sql.js';

test('a query goes into the address and comes back, whatever it holds', () => {
  for (const sql of ['SELECT 1', "SELECT 'a&b=c%20+#é'\n-- x", 'FROM claims']) assert.equal(parse(`?${write(sql, '?__theme=dark')}`), sql);
  assert.equal(write('', '?query=x&__theme=dark'), '__theme=dark');
  assert.equal(parse('?other=1'), '');
});

test('a spreadsheet runs no cell, and numbers stay numbers', () => {
  const risky = ['=1+1', '+A1', '-A1', '@SUM(A1)', '\tx', '＝1'];
  assert.deepEqual(risky.map(safeCell), risky.map((text) => `'${text}`));
  for (const text of ['-1', '+2.5e3', '-', '85%', 'a=b', '']) assert.equal(safeCell(text), text);
  const answer = { columns: [{ name: 'a,b' }, { name: '=x' }], rows: [[-1, '=1+"2"'], [null, 'two\nlines']] };
  assert.equal(csv(answer), '"a,b",\'=x\n-1,"\'=1+""2"""\n,"two\nlines"\n');
  assert.deepEqual(JSON.parse(json(answer)).rows, answer.rows);
});

test('columns are as wide as their first rows ask for, within bounds', () => {
  const columns = [{ name: 'n' }, { name: 'text' }];
  const [narrow, wide] = widths({ columns, rows: [[1, 'x'.repeat(1000)], [null, 'y']] });
  assert.ok(narrow < 70 && wide === 420);
  assert.equal(shown(null), '—');
});
