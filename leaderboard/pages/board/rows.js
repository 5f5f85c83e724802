/** Which rows are shown and in which order: pure functions over the payload. Nothing here changes a rank. */

import { kindWords } from '../../js/kinds.js';
import { memoryText, parametersText } from '../../js/number.js';
import { hasSize } from './sizes.js';

const count = (value) => value.toLocaleString('en');

// What of a model can be open: a sign, words, and whether it is; null where it is not stated.
const OPENNESS = [
  ['W', 'weights', (row) => row.open], ['L', 'licence for commercial use', (row) => (row.license ? row.usable : null)],
  ['C', 'training code', (row) => row.training_code], ['D', 'training data', (row) => row.training_data], ['P', 'paper', (row) => (row.paper ? true : null)],
];

function opennessWords(row) {
  const named = [[true, ''], [false, 'closed: '], [null, 'not stated: ']].map(([value, before]) => [before, OPENNESS.filter(([, , of]) => of(row) === value).map(([, name]) => name)]);
  return named.filter(([, names]) => names.length).map(([before, names]) => before + names.join(', ')).join('; ');
}

/** Facts of a model that are columns; all but the first when they are switched on. `of` gives null where it is not stated; `words` says more than `text`. */
export const FACTS = [
  { key: 'parameters', title: 'Parameters', short: 'Params', hint: 'Number of parameters, where it is stated', of: (row) => row.parameters, text: parametersText },
  { key: 'memory', title: 'Memory', hint: 'What the published weights take in memory', of: (row) => row.memory, text: memoryText },
  { key: 'dimension', title: 'Dimension', hint: 'Embedding dimension: numbers in a vector', of: (row) => row.dimension, text: count },
  { key: 'tokens', title: 'Max tokens', hint: 'The longest text that is read whole, in tokens', of: (row) => row.tokens, text: count },
  { key: 'date', title: 'Released', hint: 'When the weights were released', of: (row) => row.released || null, text: String },
  { key: 'openness', title: 'Open', hint: 'W weights, L licence for commercial use, C training code, D training data, P paper; – closed, · not stated',
    of: (row) => (OPENNESS.every(([, , of]) => of(row) === null) ? null : OPENNESS.filter(([, , of]) => of(row)).length), text: (_, row) => OPENNESS.map(([sign, , of]) => (of(row) ? sign : of(row) === null ? '·' : '–')).join(' '), words: opennessWords },
  { key: 'untrained', title: 'Not trained on', hint: 'Share of the ranked tasks whose data are not among the stated training data', of: (row) => row.untrained, text: (share) => `${Math.round(share * 100)}%` },
  { key: 'late', title: 'Late interaction', hint: 'yes: many vectors per item, compared by MaxSim; no: one', of: (row) => row.late, text: (late) => (late ? 'yes' : 'no') },
];

// What the origins are called, in the order of their switch; after them come laboratories, each by its key.
const ORIGINS = new Map([['imported', 'Public results'], ['published', 'Paper'], ['computed', 'Computed']]);
const OPEN = new Map([['yes', 'Open'], ['no', 'Closed'], ['unknown', 'Not stated']]);
const STATED = new Map([['yes', 'Yes'], ['no', 'No'], ['unknown', 'Not stated']]);
const stated = (value) => (value === null ? 'unknown' : value ? 'yes' : 'no');

/** A word for a kind of model. */
export const kindTitle = (kind) => sentence(kindWords(kind));
/** A word for the origin of a row's scores. */
export const originTitle = (origin) => ORIGINS.get(origin) ?? sentence(origin.split(':')[1] ?? origin);

const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) : 'Not stated');

// A model whose training data nobody states may have seen them all: it is neither trained on them nor new to them.
const TRAINED = new Map([['yes', 'Yes'], ['no', 'No, none is among its stated training data'], ['unknown', 'Unknown, its training data is not stated']]);
/** Words for whether a model saw the data sets of a table in training. */
export const trainedTitle = (key) => TRAINED.get(key);

// A licence that is stated as an address is named after its model.
const licenceWords = (key) => (/^https:/.test(key) ? `Own terms: ${key.replace(/^https:..(huggingface.co.)?/, '').replace(/.blob.*/, '')}` : orUnknown(key));
const orUnknown = (key) => (key === 'unknown' ? 'Not stated' : key);

/** Facets of the filter menu: the values a row has, a word for each, and `order` where it is not that of the words. A switch has one value that can be chosen, `yes`. */
export const FACETS = [
  { key: 'usable', title: 'Only models I can use', of: (row) => [row.usable ? 'yes' : 'no'], label: () => 'open weights, a licence for commercial use', isSwitch: true },
  { key: 'kind', title: 'Kind', of: (row) => [row.kind], label: kindTitle },
  { key: 'modality', title: 'Input', of: (row) => row.modalities, label: sentence },
  { key: 'open', title: 'Weights', of: (row) => [stated(row.open)], label: (key) => OPEN.get(key), order: [...OPEN.keys()] },
  { key: 'training_code', title: 'Training code', of: (row) => [stated(row.training_code)], label: (key) => OPEN.get(key), order: [...OPEN.keys()] },
  { key: 'training_data', title: 'Training data', of: (row) => [stated(row.training_data)], label: (key) => OPEN.get(key), order: [...OPEN.keys()] },
  { key: 'late_interaction', title: 'Late interaction', of: (row) => [stated(row.late)], label: (key) => STATED.get(key), order: [...STATED.keys()] },
  { key: 'instructions', title: 'Takes instructions', of: (row) => [stated(row.instructions)], label: (key) => STATED.get(key), order: [...STATED.keys()] },
  { key: 'license', title: 'Licence', of: (row) => [row.license || 'unknown'], label: licenceWords },
  { key: 'released', title: 'Released', of: (row) => [row.released.slice(0, 4) || 'unknown'], label: orUnknown },
  { key: 'trained', title: 'Trained on these data sets', of: (row) => [row.trained], label: trainedTitle, order: [...TRAINED.keys()] },
  { key: 'paper', title: 'Paper', of: (row) => [row.paper ? 'yes' : 'no'], label: (key) => STATED.get(key), order: ['yes', 'no'] },
  { key: 'origin', title: 'Origin of the scores', of: (row) => [row.origin], label: originTitle },
  { key: 'group', title: 'Group in the paper', of: (row) => (row.group ? [row.group] : []), label: sentence },
];

/** The origins that occur in a payload, in the order of their switch. */
export function originsOf(payload) {
  const present = new Set(payload.rows.map(({ origin }) => origin));
  return [...new Set([...ORIGINS.keys(), ...[...present].sort().reverse()])].filter((origin) => present.has(origin));
}

/** The origins shown when nothing was chosen: where there are several, the one whose ranks can best be known; [] shows every row. */
export const defaultOrigin = (payload) => (originsOf(payload).length > 1 ? [payload.origin] : []);

/** Rows of the origins shown, whatever else is hidden: how many there are, and how many have another rank than the suite gives. */
export function differingRanks(payload, ranking, { origin }) {
  const rows = payload.rows.flatMap((row, at) => (!origin.length || origin.includes(row.origin) ? [at] : []));
  return { differ: rows.filter((at) => ranking.rank[at] !== payload.ranking.rank[at]).length, of: rows.length };
}

/** The values of a facet which occur in the payload, in its order; by name where it has none, the unknown last. */
export function facetValues(payload, facet) {
  const present = new Set(payload.rows.flatMap(facet.of).filter(Boolean));
  const byName = [...present].sort((one, other) => Number(one === 'unknown') - Number(other === 'unknown') || collator.compare(one, other));
  return (facet.order ?? byName).filter((value) => present.has(value));
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
const searchable = new WeakMap();

function haystack(row) {
  if (!searchable.has(row)) searchable.set(row, [row.title, row.organisation, row.family, row.model].join('\n').toLowerCase());
  return searchable.get(row);
}

/** Row numbers which pass search and filters; `except` names a facet that is ignored (for the counts of its options). */
export function filterRows(payload, state, except = '') {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const tests = [];
  if (words.length) tests.push((row) => words.every((word) => haystack(row).includes(word)));
  for (const { key, of } of FACETS) {
    if (key !== except && state[key].length) tests.push((row) => of(row).some((value) => state[key].includes(value)));
  }
  tests.push((row) => hasSize(state.sizes, row));
  if (state.models.length) tests.push((row) => state.models.includes(row.model));
  return payload.rows.flatMap((row, at) => (tests.every((test) => test(row)) ? [at] : []));
}

/** Row numbers that are shown: pinned ones first, whatever the filters say, then those that pass; in the chosen order. */
export function shownRows(payload, ranking, state, passing) {
  const isPinned = (row) => state.pin.includes(payload.rows[row].id);
  const pinned = payload.rows.flatMap((_, row) => (isPinned(row) ? [row] : []));
  return [pinned, passing.filter((row) => !isPinned(row))].flatMap((rows) => sortRows(payload, ranking, rows, state.sort));
}

/** How many rows each option of a facet would show, the other filters being as they are. */
export function facetCounts(payload, state, facet) {
  const counts = new Map();
  for (const at of filterRows(payload, state, facet.key)) {
    for (const value of facet.of(payload.rows[at])) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

const families = new WeakMap();

/** The index of a column among the families, undefined for a task. */
export function familyIndex(payload, column) {
  if (!families.has(payload)) families.set(payload, new Map(payload.columns.flatMap(({ kind }, at) => (kind === 'family' ? [at] : [])).map((at, index) => [at, index])));
  return families.get(payload).get(column);
}

/** A bit of a cell's marks. */
export const DOUBTFUL = 2;

/** Whether a ranking leaves a task's score out as doubtful. */
export const isLeftOut = (payload, ranking, row, column) => ranking.effect !== undefined && (payload.marks[`${row},${column}`] & DOUBTFUL) > 0 && payload.columns[column].kind === 'task';

/** The stored integer of a cell (shown value x 10^digits) or null; a ranking over chosen tasks brings its own families. */
export function cellAt(payload, ranking, row, column) {
  const family = ranking.families ? familyIndex(payload, column) : undefined;
  if (isLeftOut(payload, ranking, row, column)) return null;
  return family === undefined ? payload.cells[row][column] : ranking.families[row][family] ?? null;
}

function valuesOf(payload, ranking, key) {
  if (key === 'title') return (row) => payload.rows[row].title;
  const fact = FACTS.find((one) => one.key === key);
  if (fact) return (row) => fact.of(payload.rows[row]);
  if (key === 'rank') return (row) => ranking.rank[row] ?? ranking.place?.[row];
  if (['mean', 'coverage'].includes(key)) return (row) => ranking[key]?.[row];
  const column = payload.columns.findIndex((one) => one.key === key);
  return (row) => cellAt(payload, ranking, row, column);
}

/** Row numbers in the chosen order; a missing value comes last in both directions, equal values follow the rank. */
export function sortRows(payload, ranking, rows, { key, down }) {
  const value = valuesOf(payload, ranking, key);
  const sign = down ? -1 : 1;
  const missing = (one) => one === null || one === undefined;
  const compare = (one, other, towards) => {
    if (missing(one) || missing(other)) return Number(missing(one)) - Number(missing(other));
    return towards * (typeof one === 'string' ? collator.compare(one, other) : one - other);
  };
  return rows.slice().sort((one, other) =>
    compare(value(one), value(other), sign)
    || compare(ranking.rank[one], ranking.rank[other], 1)
    || compare(ranking.mean[one], ranking.mean[other], -1)
    || compare(ranking.coverage[one], ranking.coverage[other], -1)
    || collator.compare(payload.rows[one].title, payload.rows[other].title)
    || one - other);
}
