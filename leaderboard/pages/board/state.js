/** The page's query string <-> the state of the table. Pure; every value is checked against the payload. */

import { encodedQuery, withValues } from '../../js/address.js';
import { nearest } from '../../js/nearest.js';
import { partOf, PARTS, partTasks, SCOPE, scopeOfPayload } from './scope.js';
import { defaultOrigin, FACETS, FACTS, facetValues } from './rows.js';
import { ANY_SIZE, readSizes, writeSizes } from './sizes.js';

export const LEAD = ['rank', 'title', 'coverage', 'mean', ...FACTS.map(({ key }) => key)];
/** What is off until it is switched on, columns and estimates: each has its key in the address. */
const SWITCHED = ['estimates', 'doubtful', 'interval', ...FACTS.slice(1).map(({ key }) => key)];
const MOST_FAMILIES = 12;
export const MOST_SELECTED = 6;
export const MOST_PINNED = 20;
const same = (one, other) => one.length === other.length && one.every((value, at) => value === other[at]);

/** Keys of the families shown when nothing was chosen but the tasks that count: of a part of the suite, none. */
function defaultFamilies(payload, counted = []) {
  if (partOf(payload, counted)) return [];
  return payload.columns.filter((column) => column.kind === 'family' && column.default)
    .slice(0, MOST_FAMILIES).map(({ key }) => key);
}

/** Keys of the tasks shown when nothing was chosen but those that count: of a part of the suite, its tasks. */
export function defaultTasks(payload, counted = []) {
  if (partOf(payload, counted)) return counted;
  return payload.columns.filter((column) => column.kind === 'task' && column.default).map(({ key }) => key);
}

/** The columns shown when nothing was chosen but the tasks that count. */
export const usualColumns = (payload, counted = []) => ({ families: defaultFamilies(payload, counted), columns: defaultTasks(payload, counted) });

/** Weight of each category when nothing was chosen: the first preset, else one each. */
const defaultWeights = (payload) => presetWeights(payload, payload.presets[0]);

/** The part of the state that makes the mean, as the suite itself has it. */
export const suiteRule = (payload) => ({ weights: defaultWeights(payload), coverage: payload.suite.minimum_coverage, tasks: [], doubtful: '' });

/** A preset's weight of each category, as a Map in the categories' order. */
export function presetWeights(payload, preset) {
  const weights = new Map(Object.entries(preset?.weights ?? {}));
  return new Map(payload.categories.map((category) => [category, weights.get(category) ?? 1]));
}

/** The key of the preset which has these weights, or ''. */
export function presetOf(payload, weights) {
  const values = [...weights.values()];
  return payload.presets.find((preset) => same([...presetWeights(payload, preset).values()], values))?.key ?? '';
}

/** The state of a page without a query string. */
export function defaults(payload) {
  return {
    q: '', sort: { key: 'rank', down: false }, ...Object.fromEntries(FACETS.map(({ key }) => [key, []])), sizes: ANY_SIZE, origin: defaultOrigin(payload), models: [], pin: [],
    ...usualColumns(payload),
    ...suiteRule(payload), select: [], ...Object.fromEntries(SWITCHED.map((key) => [key, ''])),
  };
}

/** The suite a query string names, or '' when it names none or something that cannot be one. */
export function suiteOf(search) {
  const suite = new URLSearchParams(search).get('suite') ?? '';
  return /^[a-z0-9][a-z0-9-]{0,60}$/.test(suite) ? suite : '';
}

/** Reads a query string: {state, ignored}; what the payload does not know falls back to its default and is listed. */
export function parse(search, payload) {
  const query = new URLSearchParams(search);
  const state = defaults(payload);
  const ignored = [];
  const drop = (key, value) => ignored.push(`${key}=${value.length > 60 ? `${value.slice(0, 60)}…` : value}`);
  const list = (key, known, most = Infinity) => {
    const values = [];
    for (const value of (query.get(key) ?? '').split(',').filter(Boolean)) {
      if (!known.has(value) || values.length >= most) drop(key, value);
      else if (!values.includes(value)) values.push(value);
    }
    return values;
  };
  const ordered = (keys) => payload.columns.map(({ key }) => key).filter((key) => keys.includes(key));
  const keysOf = (kind) => new Set(payload.columns.filter((column) => column.kind === kind).map(({ key }) => key));

  state.q = (query.get('q') ?? '').slice(0, 200);
  for (const facet of FACETS) {
    const all = facet.key === 'origin' ? ['all'] : [];
    state[facet.key] = list(facet.key, new Set(facet.isSwitch ? ['yes'] : [...facetValues(payload, facet), ...all]));
  }
  state.sizes = readSizes(query, drop);
  state.models = list('models', new Set(payload.rows.map((row) => row.model)));
  state.select = list('select', new Set(payload.rows.map((row) => row.id)), MOST_SELECTED);
  state.pin = list('pin', new Set(payload.rows.map((row) => row.id)), MOST_PINNED);
  state.origin = readOrigin(payload, state);
  const tasks = keysOf('task');
  state.tasks = query.has('tasks') ? ordered(list('tasks', tasks)) : readPart(query, payload, drop);
  Object.assign(state, usualColumns(payload, state.tasks));
  if (query.get('families') === 'none') state.families = [];
  else if (query.has('families')) {
    const families = ordered(list('families', keysOf('family')));
    if (families.length) state.families = families;
  }
  if (query.get('columns') === 'all') state.columns = [...tasks];
  else if (query.has('columns')) {
    const signed = list('columns', new Set([...tasks, ...[...tasks].map((key) => `-${key}`)]));
    state.columns = ordered([...state.columns, ...signed].filter((key) => !signed.includes(`-${key}`)));
  }
  readScalars(query, payload, state, drop);
  readWeights(query, payload, state, drop);
  return { state, ignored };
}

/** What was ignored of an address, as a sentence: models, tasks and suites with the nearest that there is. */
export function ignoredInWords(ignored, payload) {
  const columns = payload.columns.map(({ key }) => key);
  const known = {
    suite: payload.suites.map(({ key }) => key), models: payload.rows.map(({ model }) => model), select: payload.rows.map(({ id }) => id), pin: payload.rows.map(({ id }) => id),
    tasks: columns, columns, families: columns, sort: columns,
  };
  const words = ignored.map((entry) => {
    const [key, value] = [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)];
    const near = nearest(value.replace(/^-/, ''), known[key] ?? []);
    return near ? `${entry} (did you mean “${near}”?)` : entry;
  });
  return `Ignored in the address, unknown to this table: ${words.join(', ')}`;
}

/** `all` shows every origin; without a word on it the usual one, or all where the address names rows it would hide. */
function readOrigin(payload, { origin, models, select }) {
  if (origin.includes('all')) return [];
  if (origin.length) return origin;
  const usual = defaultOrigin(payload);
  const hidden = (row) => usual.length && !usual.includes(row.origin) && (select.includes(row.id) || models.includes(row.model));
  const alone = payload.rows.some((row) => hidden(row)
    && (select.includes(row.id) || !payload.rows.some((other) => other.model === row.model && usual.includes(other.origin))));
  return alone ? [] : usual;
}

/** The tasks of the data set and split that an address names. */
function readPart(query, payload, drop) {
  const part = Object.fromEntries(PARTS.map((key) => [key, query.get(key) ?? '']));
  if (!part.dataset && !part.split) return [];
  const tasks = payload.choices.splits.length ? partTasks(payload, part) : null;
  if (!tasks) PARTS.filter((key) => part[key]).forEach((key) => drop(key, part[key]));
  return tasks ?? [];
}

function readScalars(query, payload, state, drop) {
  const sort = query.get('sort') ?? '';
  if (sort) {
    const down = sort.startsWith('-');
    const key = down ? sort.slice(1) : sort;
    if (LEAD.includes(key) || payload.columns.some((column) => column.key === key)) state.sort = { key, down };
    else drop('sort', sort);
  }
  for (const key of SWITCHED) {
    const word = query.get(key) ?? '';
    if (word === 'show' || word === 'hide') state[key] = word;
    else if (word) drop(key, word);
  }
  const coverage = query.get('coverage') ?? '';
  if (coverage) {
    const share = Number(coverage);
    if (share >= 0 && share <= 1) state.coverage = share;
    else drop('coverage', coverage);
  }
}

function readWeights(query, payload, state, drop) {
  const preset = query.get('preset') ?? '';
  if (preset) {
    const known = payload.presets.find((one) => one.key === preset);
    if (known) state.weights = presetWeights(payload, known);
    else drop('preset', preset);
  }
  for (const pair of (query.get('w') ?? '').split(',').filter(Boolean)) {
    const at = pair.lastIndexOf(':');
    const [category, weight] = [pair.slice(0, at), Number(pair.slice(at + 1))];
    if (at > 0 && at < pair.length - 1 && state.weights.has(category) && weight >= 0 && weight <= 100) {
      state.weights.set(category, weight);
    } else drop('w', pair);
  }
  if (state.weights.size && ![...state.weights.values()].some((weight) => weight > 0)) {
    drop('w', 'all weights 0');
    state.weights = defaultWeights(payload);
  }
}

/** The weights that are not the suite's own, each as `category:weight`. */
function changedWeights(state, payload) {
  const usual = defaultWeights(payload);
  return [...state.weights].filter(([name, weight]) => weight !== usual.get(name)).map((pair) => pair.join(':'));
}

/** Query parameters of data/rank: empty when the ranking is the payload's own. */
export function rankQuery(state, payload) {
  const query = [];
  const weights = changedWeights(state, payload);
  if (weights.length) query.push(['w', weights.join(',')]);
  if (state.coverage !== payload.suite.minimum_coverage) query.push(['coverage', String(state.coverage)]);
  if (state.tasks.length) query.push(['tasks', state.tasks.join(',')]);
  if (state.estimates === 'show') query.push(['estimates', 'show']);
  if (state.doubtful === 'hide') query.push(['doubtful', 'hide']);
  return encodedQuery(query);
}

/** Parameters of everything that is asked of the server about a table: its condition and metric, and the ranking's. */
export const tableQuery = (state, payload) => [scopeOfPayload(payload), rankQuery(state, payload)].filter(Boolean).join('&');

/** Writes what differs from the defaults into a query string; parameters of others in `search` stay. */
export function write(state, payload, search, home) {
  const { suite, presets } = payload;
  const { sort: { key, down }, origin, families, columns, weights, tasks } = state;
  const [preset, part, basic] = [presetOf(payload, weights), partOf(payload, tasks), defaultTasks(payload, tasks)];
  const pick = (keys, from) => Object.fromEntries(keys.map((name) => [name, from?.[name] ?? '']));
  return withValues(search, {
    suite: suite.key === home ? '' : suite.key, ...pick(SCOPE, suite), q: state.q, sort: key !== 'rank' || down ? (down ? '-' : '') + key : '',
    ...Object.fromEntries(FACETS.map((facet) => [facet.key, state[facet.key].join()])),
    origin: same(origin, defaultOrigin(payload)) ? '' : origin.join() || 'all',
    ...Object.fromEntries(writeSizes(state.sizes)), models: state.models.join(), pin: state.pin.join(),
    families: same(families, defaultFamilies(payload, tasks)) ? '' : families.join() || 'none',
    columns: same(columns, basic) ? '' : taskList(state, payload, basic),
    preset: preset === presets[0]?.key ? '' : preset, w: preset ? '' : changedWeights(state, payload).join(), ...pick(SWITCHED, state),
    coverage: state.coverage === suite.minimum_coverage ? '' : String(state.coverage), ...pick(PARTS, part), tasks: part ? '' : tasks.join(), select: state.select.join(),
  });
}

function taskList(state, payload, basic) {
  const tasks = payload.columns.filter((column) => column.kind === 'task');
  if (state.columns.length === tasks.length) return 'all';
  return [...state.columns.filter((key) => !basic.includes(key)), ...basic.filter((key) => !state.columns.includes(key)).map((key) => `-${key}`)].join();
}
