/** The list of models: what its columns and filters are. */

import { encodedKey } from '../../js/address.js';
import { bars, dash, linked, mountCatalogue, record } from '../../js/catalogue.js';
import { el } from '../../js/dom.js';
import { counted, folded } from '../../js/facets.js';
import { parametersText, rounded } from '../../js/number.js';

// The most parameters in millions; a model of unknown size is in none of them.
const SIZES = [['100m', 'at most 100 M', 100], ['500m', 'at most 500 M', 500], ['1b', 'at most 1 B', 1000], ['10b', 'at most 10 B', 10_000]];

/** A model's standing in the suite of the filter, or else in the first of its suites with most categories, of those that rank it where any does; null without one. */
export function standing(row, { suite }) {
  if (suite) return row.standings.find((one) => one.suite.key === suite) ?? null;
  const ranked = row.standings.filter(({ rank }) => rank !== null);
  return (ranked.length ? ranked : row.standings).reduce((best, one) => (best && best.suite.categories.length >= one.suite.categories.length ? best : one), null);
}

/** The means of a standing in words: `Clustering 82.7, Retrieval not scored`. */
const meansText = ({ suite, values }) => suite.categories.map((title, at) => `${title} ${values[at] === null ? 'no mean' : rounded(values[at], suite.digits[at])}`).join(', ');

function rankText({ rank, low, high }) {
  if (rank === null) return 'not ranked';
  return low === null || (low === rank && high === rank) ? `${rank}` : `${rank} (${low}–${high})`;
}

/** Rows, filters and columns out of what the server sends. */
export function describe({ fields, rows: listed, suites, kinds, permissive, hub }) {
  const rows = listed.map((values) => {
    const row = record(fields, values);
    const standings = suites.filter(({ models }) => Object.hasOwn(models, row.key)).map((suite) => {
      const [rank, low, high, of, origin, means, levels] = suite.models[row.key];
      return { suite, rank, low, high, of, origin, values: means, levels };
    });
    const text = folded([row.title, row.organisation, row.family, row.key, row.weights, ...row.aliases].join(' '));
    return { ...row, standings, scored: Object.values(row.tasks).reduce((sum, count) => sum + count, 0), text };
  });
  const page = (row) => `model?model=${encodedKey(row.key)}`;
  const facets = [
    {
      key: 'scores', title: 'Scores', options: [['yes', 'on real items'], ['synthetic', 'on synthetic items only'], ['no', 'none yet']],
      test: (row, value) => (row.scored ? (row.synthetic ? 'synthetic' : 'yes') : 'no') === value,
    },
    { key: 'kind', title: 'Kind', options: counted(rows.map(({ kind }) => kind), { label: (kind) => kinds[kind] ?? kind }), test: (row, value) => row.kind === value },
    {
      key: 'suite', title: 'Suite', options: suites.map(({ key, title, synthetic, models }) => [key, `${title}${synthetic ? ', synthetic' : ''} (${Object.keys(models).length})`]),
      test: (row, value) => row.standings.some(({ suite }) => suite.key === value),
    },
    {
      key: 'size', title: 'Size', options: [...SIZES.map(([key, title]) => [key, title]), ['large', 'over 10 B'], ['unknown', 'unknown']],
      test: ({ parameters }, value) => {
        if (value === 'unknown') return parameters === null;
        const most = SIZES.find(([key]) => key === value)?.[2];
        return parameters !== null && (most === undefined ? parameters > 10_000 : parameters <= most);
      },
    },
    {
      key: 'license', title: 'Licence',
      options: [['permissive', 'permissive: Apache, MIT, BSD'], ...counted(rows.map(({ license }) => license))],
      test: ({ license }, value) => (value === 'permissive' ? permissive.includes(license) : (license || 'unknown') === value),
    },
    { key: 'takes', title: 'Takes', options: counted(rows.map(({ takes }) => takes.join('+')), { label: (takes) => takes.replaceAll('+', ', ') }), test: ({ takes }, value) => (takes.join('+') || 'unknown') === value },
  ];
  const columns = [
    {
      key: 'title', title: 'Model', width: 220, most: 420, open: page, value: ({ title }) => title,
      draw: (cell, row) => {
        linked(cell, page(row), row.title, row.organisation);
        cell.firstChild.classList.add('lk-catalogue-name');
        if (row.synthetic) cell.append(el('span', { class: 'lk-mark' }, 'synthetic'));
      },
    },
    { key: 'kind', title: 'Kind', width: 96, most: 170, value: ({ kind }) => kinds[kind] ?? kind, draw: (cell, { kind }) => dash(cell, kinds[kind] ?? kind) },
    { key: 'takes', title: 'Takes', width: 92, most: 120, value: ({ takes }) => takes.join(', '), draw: (cell, { takes }) => dash(cell, takes.join(', ')) },
    { key: 'parameters', title: 'Para\u00admeters', width: 78, numeric: true, value: ({ parameters }) => parameters, draw: (cell, { parameters }) => dash(cell, parameters === null ? '' : parametersText(parameters)) },
    { key: 'license', title: 'Licence', width: 98, most: 150, value: ({ license }) => license, draw: (cell, { license }) => dash(cell, license) },
    { key: 'released', title: 'Released', width: 98, largest: true, value: ({ released }) => released, draw: (cell, { released }) => dash(cell, released) },
    { key: 'tasks', title: 'Tasks scored', width: 70, numeric: true, largest: true, value: ({ scored }) => scored, draw: (cell, { scored }) => { cell.textContent = String(scored); } },
    {
      key: 'rank', title: 'Rank in a suite', hint: 'Rank among the models measured by the same source, with the interval that holds it in 95% of cases', width: 150, most: 210,
      value: (row, state) => {
        const own = standing(row, state);
        return own && own.rank !== null ? suites.indexOf(own.suite) * 10_000 + own.rank : null;
      },
      open: (row, shown) => {
        const own = standing(row, shown);
        return own ? `board?suite=${own.suite.key}&select=${encodedKey(`${row.key}~${own.origin}`)}` : '';
      },
      draw: (cell, row, state) => {
        const own = standing(row, state);
        if (!own) return dash(cell, row.scored ? 'in no suite' : 'no score yet');
        const select = encodedKey(`${row.key}~${own.origin}`);
        const text = own.suite.people && own.rank !== null ? `${own.rank} by people` : rankText(own);
        return linked(cell, `board?suite=${own.suite.key}&select=${select}`, own.rank === null ? text : `${text} of ${own.of}`, own.suite.title);
      },
    },
    {
      key: 'means', title: 'Category means', hint: 'One bar a category of the suite named, in the order of the board, from the lowest mean of its models (empty) to the highest (full); a dotted line: no mean', width: 120, most: 170,
      draw: (cell, row, state) => {
        const own = standing(row, state);
        if (!own || !own.levels.length) {
          cell.textContent = '—';
          return;
        }
        const words = `${own.suite.title}: ${meansText(own)}`;
        cell.replaceChildren(bars(own.levels, words));
        cell.title = words;
      },
    },
    {
      key: 'weights', title: 'Weights', width: 140, most: 300, value: ({ weights }) => weights, open: ({ weights }) => (weights ? hub + weights : ''),
      draw: (cell, { weights }) => (weights ? linked(cell, hub + encodeURI(weights), weights) : dash(cell, '')),
    },
  ];
  const caption = (state) => {
    const suite = suites.find(({ key }) => key === state.suite);
    const of = suite ? suite.title : 'the suite next to the rank';
    return `Bars: the mean of each category of ${of}, from the lowest among its models (empty) to the highest (full); point at them for the numbers. `
      + 'A rank has its 95% interval where that is known. — means that our sources do not state it.';
  };
  return { noun: 'models', rows, facets, columns, caption };
}

/** Mounts the list into `root`; `source` is the address of its rows. */
export const mount = (root, source) => mountCatalogue(root, source, describe);
