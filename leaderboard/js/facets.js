/** The state of a list with a search, filters and a sort: read from an address, written to it, applied to rows. Pure. */

import { withValues } from './address.js';

const LONGEST = 200; // characters of a search that are used
const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Text as a search compares it: small letters without accents. */
export const folded = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** The state in a query string, and the keys whose values are unknown (they are dropped). `facets`: [{key, options: [[value, label], ...]}]; `sorts`: the keys of columns that sort. */
export function parse(search, { facets, sorts }) {
  const query = new URLSearchParams(search);
  const state = { q: (query.get('q') ?? '').slice(0, LONGEST), sort: null };
  const ignored = [];
  for (const { key, options } of facets) {
    const value = query.get(key) ?? '';
    const known = !value || options.some(([option]) => option === value);
    if (!known) ignored.push(key);
    state[key] = known ? value : '';
  }
  const sort = query.get('sort') ?? '';
  if (sorts.includes(sort.replace(/^-/, ''))) state.sort = { key: sort.replace(/^-/, ''), down: sort.startsWith('-') };
  else if (sort) ignored.push('sort');
  return { state, ignored };
}

/** The query string of a state, '' for the default; other parameters stay. */
export const write = (state, search) => withValues(search, { ...state, sort: state.sort ? `${state.sort.down ? '-' : ''}${state.sort.key}` : '' });

const missing = (value) => value === null || value === undefined || value === '';

/** The rows that pass, in order. A row has `text` (folded, what the search reads); a facet's `test(row, value)` says whether it passes; a column's `value(row)` is what it sorts by, missing ones last both ways. */
export function select(rows, state, { facets, columns }) {
  const words = folded(state.q).split(/\s+/).filter(Boolean);
  const active = facets.filter(({ key }) => state[key]);
  const passing = rows.filter((row) => words.every((word) => row.text.includes(word))
    && active.every(({ key, test }) => test(row, state[key])));
  return sorted(passing, state.sort, columns, state);
}

/** The rows in the order of `sort`, {key, down} or null. */
export function sorted(rows, sort, columns, state = {}) {
  const column = sort && columns.find(({ key }) => key === sort.key);
  if (!column) return rows;
  const way = sort.down ? -1 : 1;
  const values = new Map(rows.map((row) => [row, column.value(row, state)]));
  return rows.toSorted((one, other) => {
    const [a, b] = [values.get(one), values.get(other)];
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
    return way * (typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(a, b));
  });
}

/** Options of a facet out of the rows' own values, most frequent first: [[value, `label (count)`], ...]. */
export function counted(values, { label = (value) => value, unknown = 'unknown' } = {}) {
  const counts = new Map();
  for (const value of values) counts.set(value || 'unknown', (counts.get(value || 'unknown') ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => Number(a === 'unknown') - Number(b === 'unknown') || m - n || collator.compare(a, b))
    .map(([value, count]) => [value, `${value === 'unknown' ? unknown : label(value)} (${count})`]);
}
