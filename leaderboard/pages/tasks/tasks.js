/** The list of tasks: what its columns and filters are. */

import { encodedKey } from '../../js/address.js';
import { dash, linked, mountCatalogue, record, ticks } from '../../js/catalogue.js';
import { el } from '../../js/dom.js';
import { counted, folded } from '../../js/facets.js';
import { rounded } from '../../js/number.js';

const browsers = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' });

/** A language by its ISO 639 code in words: the name in `names`, else the browser's, else the code itself. */
export function languageName(code, names) {
  if (code in names) return names[code];
  try {
    return browsers.of(code);
  } catch {
    return code;
  }
}

/** Rows, filters and columns out of what the server sends. */
export function describe({ fields, rows: listed, benchmarks, types, suites, languages: names, hints }) {
  const nameOf = (code) => languageName(code, names);
  const rows = listed.map((values) => {
    const row = record(fields, values);
    const spoken = row.languages.map(nameOf);
    const text = folded([row.title, row.key, row.category, hints[row.category] ?? '', types[row.type] ?? '', row.dataset, benchmarks[row.benchmark].title, row.metric, ...spoken].join(' '));
    return { ...row, spoken, text };
  });
  const page = (row) => `task?task=${encodedKey(row.key)}`;
  const shown = (value, { digits }) => (value === null ? '—' : rounded(value, digits));
  const facets = [
    { key: 'scores', title: 'Scores', options: [['yes', 'with scores'], ['no', 'none yet']], test: (row, value) => (row.models > 0) === (value === 'yes') },
    { key: 'benchmark', title: 'Benchmark', options: counted(rows.map(({ benchmark }) => benchmark), { label: (key) => benchmarks[key].title + (benchmarks[key].synthetic ? ', synthetic' : '') }), test: (row, value) => row.benchmark === value },
    { key: 'suite', title: 'Suite', options: Object.entries(suites), test: (row, value) => row.suites.includes(value) },
    { key: 'category', title: 'Category', options: counted(rows.map(({ category }) => category)), test: (row, value) => row.category === value },
    { key: 'type', title: 'Type', options: counted(rows.map(({ type }) => type), { label: (key) => types[key], unknown: 'other' }), test: (row, value) => (row.type || 'unknown') === value },
    {
      key: 'language', title: 'Language',
      options: counted(rows.flatMap(({ languages }) => languages), { label: nameOf }), test: ({ languages }, value) => languages.includes(value),
    },
    { key: 'takes', title: 'Inputs', options: counted(rows.map(({ takes }) => takes.join('+')), { label: (takes) => takes.replaceAll('+', ', ') }), test: ({ takes }, value) => (takes.join('+') || 'unknown') === value },
    { key: 'license', title: 'Licence', options: counted(rows.map(({ license }) => license)), test: ({ license }, value) => (license || 'unknown') === value },
  ];
  const number = (key, title, more = {}) => ({
    key, title, width: 72, numeric: true, value: (row) => row[key], ...more,
    draw: (cell, row) => { cell.textContent = shown(row[key], row); },
  });
  const columns = [
    {
      key: 'title', title: 'Task', width: 190, most: 340, open: page, value: ({ title }) => title,
      draw: (cell, row) => {
        linked(cell, page(row), row.title);
        cell.firstChild.classList.add('lk-catalogue-name');
        if (benchmarks[row.benchmark].synthetic) cell.append(el('span', { class: 'lk-mark' }, 'synthetic'));
      },
    },
    {
      key: 'benchmark', title: 'Benchmark', width: 96, most: 120, open: ({ benchmark }) => benchmarks[benchmark].paper, value: ({ benchmark }) => benchmarks[benchmark].title,
      draw: (cell, { benchmark }) => linked(cell, benchmarks[benchmark].paper, benchmarks[benchmark].title),
    },
    { key: 'category', title: 'Category', width: 110, most: 190, value: ({ category }) => category, draw: (cell, { category }) => { dash(cell, category); cell.title = hints[category] ?? category; } },
    { key: 'metric', title: 'Metric', width: 90, most: 130, value: ({ metric }) => metric, draw: (cell, { metric }) => dash(cell, metric) },
    { key: 'items', title: 'Items', width: 84, numeric: true, largest: true, value: ({ items }) => items, draw: (cell, { items }) => { cell.textContent = items === null ? '—' : items.toLocaleString('en'); } },
    { key: 'models', title: 'Models scored', width: 66, numeric: true, largest: true, value: ({ models }) => models, draw: (cell, { models }) => { cell.textContent = String(models); } },
    {
      key: 'spread', title: 'Scores', hint: 'One tick a model, from the least to the most that the metric can be; without such bounds, from the lowest to the highest score', width: 120, most: 200,
      draw: (cell, row) => {
        if (!row.ticks.length) {
          cell.textContent = '—';
          return;
        }
        const words = `${row.models} models, best ${shown(row.best, row)}, median ${shown(row.median, row)}`;
        cell.replaceChildren(ticks(row.ticks, words));
        cell.title = words;
      },
    },
    {
      ...number('best', 'Best', { largest: true, open: ({ leader }) => (leader ? `model?model=${encodedKey(leader)}` : '') }),
      draw: (cell, row) => (row.leader ? linked(cell, `model?model=${encodedKey(row.leader)}`, shown(row.best, row) + (row.trained ? '†' : '')) : dash(cell, '')),
    },
    number('median', 'Median', { largest: true }),
    number('chance', 'Chance'),
    { key: 'language', title: 'Languages', width: 96, most: 150, value: ({ languages }) => languages.length || null, draw: (cell, { spoken }) => { dash(cell, spoken.length > 2 ? `${spoken.length} languages` : spoken.join(', ')); if (spoken.length) cell.title = spoken.join(', '); } },
    { key: 'license', title: 'Licence', width: 90, most: 140, value: ({ license }) => license, draw: (cell, { license }) => dash(cell, license) },
    { key: 'dataset', title: 'Data set', width: 120, most: 220, value: ({ dataset }) => dataset, draw: (cell, { dataset }) => dash(cell, dataset) },
  ];
  const caption = () => 'Scores: one tick a model, on the metric’s full range where it has one. The best score leads to its model (†: trained on this data set), a benchmark to its paper. '
    + '— means that our sources do not state it.';
  return { noun: 'tasks', rows, facets, columns, caption };
}

/** Mounts the list into `root`; `source` is the address of its rows. */
export const mount = (root, source) => mountCatalogue(root, source, describe);
