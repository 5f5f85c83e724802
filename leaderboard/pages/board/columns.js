/** The columns of the board: what stands in a cell, how wide it is and what a reader hears. */

import { step } from './colour.js';
import { el } from '../../js/dom.js';
import { parametersText, rounded } from '../../js/number.js';
import { cellAt, familyIndex, kindTitle, originsOf, originTitle } from './rows.js';
import { columnScale } from './scale.js';
import { breakable, titleSize } from './titles.js';

export const DOUBTFUL = 2;
const PARTIAL = 8;
const BELOW = 90; // px that the line below a title takes

export const MARKS = [
  [1, '†', 'trained on this data set'],
  [2, '?', 'doubtful: see its note'],
  [4, '‡', 'another source prints another number'],
  [8, '~', 'mean of only some of its tasks'],
  [16, '*', 'mean as the paper prints it; some of its tasks are missing'],
];

/** A stored integer as the paper prints it. */
export function shown(stored, digits) {
  return rounded(stored / 10 ** digits, digits);
}

/** The marks of a cell as bits; a ranking over chosen tasks brings those of its own families. */
export function marksAt(payload, ranking, row, column) {
  const family = ranking.family_marks ? familyIndex(payload, column) : undefined;
  return family === undefined ? payload.marks[`${row},${column}`] ?? 0 : ranking.family_marks[row][family];
}

/** Why a cell is empty. */
export function reasonAt(payload, ranking, row, column) {
  if (ranking.changed && payload.columns[column].kind === 'family') return 'no score on the tasks that count';
  return payload.reasons[payload.missing[`${row},${column}`] ?? 0] ?? 'No score';
}

/** The change of a row's rank against the default ranking: '▲2', '▼1', 'new', 'out' or ''. */
export function change(now, before) {
  if (now === null && before === null) return '';
  if (before === null) return 'new';
  if (now === null) return 'out';
  return now < before ? `▲${before - now}` : now > before ? `▼${now - before}` : '';
}

/** Digits of the headline mean. */
export const meanDigits = (payload) => payload.suite.digits ?? 1;

/** Column numbers of the payload which are shown, in its order. */
export function shownColumns(payload, state) {
  const chosen = new Set([...state.families, ...state.columns]);
  return payload.columns.flatMap((column, at) => (chosen.has(column.key) ? [at] : []));
}

/** One sentence on a score column: metric, direction, chance, number of items. */
export function columnHint({ title, group, metric_title: metric, higher, chance, n, digits, hint }) {
  const parts = [`${group && group !== title ? `${group}: ` : ''}${title}`, `${metric}, ${higher ? 'higher' : 'lower'} is better`];
  if (hint) parts.push(hint);
  if (chance !== null && chance !== undefined) parts.push(`chance ${rounded(chance, digits)}`);
  if (n) parts.push(`${n.toLocaleString('en')} items`);
  return parts.join(' · ');
}

/** The grid's columns for a board's payload, state and ranking; `narrow` pins the model column only. */
export function gridColumns(board, narrow) {
  const { payload, ranking, state } = board;
  const lead = [selectColumn(board), rankColumn(board, narrow), modelColumn(board, narrow)];
  const facts = [];
  if (payload.rows.some(({ parameters }) => parameters !== null)) facts.push(parametersColumn(board));
  if (ranking.coverage.some((share) => share < 1)) facts.push(coverageColumn(board));
  const shownAt = shownColumns(payload, state);
  const scores = shownAt.map((at) => scoreColumn(board, at));
  // Where people rank, the headline is one of the columns: shown there, it is not repeated.
  const repeated = payload.suite.people && shownAt.some((at) => payload.columns[at].key === payload.suite.people);
  const mean = repeated ? [] : [meanColumn(board, narrow)];
  if (hasBorda(ranking) && (state.borda ? state.borda === 'show' : board.wide)) mean.push(bordaColumn(board));
  if (!narrow) return [...lead.map((column) => ({ ...column, pinned: true })), ...facts, ...mean, ...scores];
  const [select, rank, model] = lead;
  return [{ ...model, pinned: true }, rank, ...mean, ...scores, ...facts, select];
}

function selectColumn({ state, payload }) {
  return {
    key: 'select', title: '', name: 'Select to compare', hint: 'Select 2 to 6 rows to compare', width: 30,
    draw(cell, row) {
      const { id, title } = payload.rows[row];
      cell.classList.add('lk-select');
      let box = cell.firstElementChild;
      if (box?.getAttribute('role') !== 'checkbox') {
        box = el('span', { role: 'checkbox', class: 'lk-check' });
        cell.replaceChildren(box);
      }
      box.setAttribute('aria-checked', String(state.select.includes(id)));
      box.setAttribute('aria-label', `Select ${title}`);
    },
  };
}

/** Why a row has no rank, without the words that say it has none; '' for a ranked row. */
export function whyNot(ranking, row) {
  if (ranking.rank[row] !== null) return '';
  return ranking.why[row].replace(/^Not ranked: /, '') || 'no headline score';
}

/** What a rank says, in words. */
export function rankText(ranking, row) {
  const [rank, low, high, tie] = ['rank', 'low', 'high', 'tie'].map((key) => ranking[key][row]);
  if (rank === null) return `Not ranked: ${whyNot(ranking, row)}`;
  if (low === null) return `Rank ${rank}; interval and tie class unknown: ${ranking.unknown[row]}`;
  const basis = basisText(ranking, row);
  return `Rank ${rank}, interval ${low} to ${high} (${ranking.few[row] ? 'usually ' : ''}at least 95%)${tie ? `; tie class ${tie}` : ''}${basis ? `; ${basis}` : ''}`;
}

/** What the intervals of a row rest on, where that is little; '' elsewhere. */
export function basisText(ranking, row) {
  return [
    ranking.few[row] ? 'rests on few tasks' : '',
    ranking.fixed.length ? `says nothing beyond the one task of ${ranking.fixed.join(', ')}` : '',
  ].filter(Boolean).join('; ');
}

/** The interval of a row's mean in words, with `digits` decimals. */
export function meanInterval(ranking, row, digits) {
  const [low, high] = [ranking.mean_low[row], ranking.mean_high[row]];
  if (low === null) return ranking.unknown[row] ? `interval unknown: ${ranking.unknown[row]}` : '';
  return `${ranking.few[row] ? 'at least ' : ''}95% interval ${rounded(low, digits)} to ${rounded(high, digits)}`;
}

/** A rank's interval as its cell has it: nothing where the rank is sure, in brackets where it rests on few tasks. */
function shortInterval(ranking, row) {
  const [low, high] = [ranking.low[row], ranking.high[row]];
  if (low === null) return 'unknown';
  if (low === high) return '';
  return ranking.few[row] ? `(${low}–${high})` : `${low}–${high}`;
}

function rankColumn({ ranking, payload }, narrow) {
  const before = payload.ranking.rank;
  const moved = Boolean(ranking.changed);
  const long = payload.rows.length >= 100;
  return {
    key: 'rank', title: 'Rank', hint: 'Rank by the headline, with its interval and its tie class', sort: true,
    width: (narrow ? 81 : 103) + (moved ? 34 : 0) + (long ? 24 : 0),
    draw(cell, row) {
      const rank = ranking.rank[row];
      cell.classList.add('lk-rank');
      if (long) cell.classList.add('lk-long');
      cell.title = rankText(ranking, row);
      const delta = moved ? change(rank, before[row]) : '';
      cell.setAttribute('aria-label', delta ? `${cell.title}; by the suite’s own mean ${before[row] ?? 'not ranked'}` : cell.title);
      const parts = [rank === null ? el('b', { class: 'lk-missing' }, '—') : el('b', {}, String(rank))];
      if (rank !== null) {
        parts.push(el('small', {}, shortInterval(ranking, row)));
        if (!narrow) parts.push(el('i', {}, ranking.tie[row] ?? ''));
      }
      if (delta) parts.push(el('em', { class: delta[0] === '▼' || delta === 'out' ? 'lk-down' : 'lk-up' }, delta));
      cell.replaceChildren(...parts);
    },
  };
}

/** A click on a name shows the model beside the table, as anywhere in its cell; with a key held the link opens its page. */
function onName(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) event.stopPropagation();
  else event.preventDefault();
}

function modelColumn({ payload, ranking, state }, narrow) {
  const mixed = state.origin.length !== 1 && originsOf(payload).length > 1;
  return {
    key: 'title', title: 'Model', sort: true, width: narrow ? 128 : 236, most: narrow ? 128 : 340,
    draw(cell, row) {
      const { title, organisation, kind, origin, model } = payload.rows[row];
      const badge = origin === 'published' && !mixed ? '' : origin;
      const why = whyNot(ranking, row);
      cell.classList.add('lk-model');
      cell.title = [title, organisation, kindTitle(kind), badge && originTitle(origin), why].filter(Boolean).join(' · ');
      cell.setAttribute('aria-label', cell.title);
      const name = el('a', { class: 'lk-name', href: payload.links?.model?.replace('{model}', encodeURIComponent(model)), tabindex: '-1', onclick: onName }, title);
      cell.classList.toggle('lk-short', narrow);
      const sign = badge && el('span', { class: 'lk-badge' }, badge);
      if (narrow) {
        cell.replaceChildren(name, ...(badge || why ? [el('small', {}, sign, why)] : []));
        return;
      }
      if (badge) name.replaceChildren(el('span', {}, title), sign);
      const under = why || [organisation, kindTitle(kind)].filter(Boolean).join(' · ');
      cell.replaceChildren(name, el('small', {}, under));
    },
  };
}

function parametersColumn({ payload, font }) {
  return {
    key: 'parameters', title: 'Parameters', numeric: true, sort: true, ...titleSize('Parameters', font),
    draw(cell, row) {
      const { parameters } = payload.rows[row];
      cell.textContent = parametersText(parameters);
      if (parameters === null) missing(cell, 'not stated');
    },
  };
}

const coverageText = (share) => `${Math.floor(share * 100 + 1e-9)}%`;

/** How many of the tasks a row has a figure for, and how many count by a printed mean. */
export function coverageWords(ranking, row) {
  const [own, covered] = [ranking.coverage[row], ranking.covered[row]].map(coverageText);
  return `${own} of the tasks have a figure${own === covered ? '' : `; ${covered} with the category means that the paper prints`}`;
}

function coverageColumn({ ranking, font }) {
  return {
    key: 'coverage', title: 'Coverage', hint: 'Share of the tasks this row has a figure for; * where printed means stand in for others', numeric: true, sort: true, ...titleSize('Coverage', font),
    draw(cell, row) {
      cell.textContent = coverageText(ranking.coverage[row]);
      if (ranking.coverage[row] < 1) cell.classList.add('lk-partial');
      if (ranking.covered[row] > ranking.coverage[row]) cell.dataset.mark = '*';
      cell.title = coverageWords(ranking, row);
      cell.setAttribute('aria-label', cell.title);
    },
  };
}

/** Whether a ranking has Borda points at all. */
export const hasBorda = (ranking) => Boolean(ranking.borda?.some((points) => points !== null));

function bordaColumn({ ranking, font }) {
  return {
    key: 'borda', title: 'Borda', name: 'Borda points', hint: 'Borda points: how many models it beats, task by task',
    numeric: true, sort: true, ...titleSize('Borda', font, ['8888.8']),
    draw(cell, row) {
      const points = ranking.borda[row];
      cell.textContent = points === null ? '—' : String(Number(rounded(points, 1)));
      if (points === null) missing(cell, whyNot(ranking, row) || 'no points');
    },
  };
}

/** Lowest and highest end of the intervals of the means shown, for the whiskers' common axis. */
function extent(ranking, rows) {
  const ends = ['mean', 'mean_low', 'mean_high'].flatMap((key) => rows.map((row) => ranking[key][row])).filter(Number.isFinite);
  return [Math.min(...ends), Math.max(...ends)];
}

function meanColumn(board, narrow) {
  const { payload, ranking } = board;
  let [rows, low, high] = [null, 0, 0];
  const part = (value) => (high > low ? (value - low) / (high - low) : 0.5);
  const digits = meanDigits(payload);
  const title = ranking.changed ? 'Your mean' : payload.suite.aggregate === 'human' ? 'Human' : 'Mean';
  const name = ranking.changed ? `Your mean: ${ranking.changed}` : payload.suite.mean_title;
  return {
    key: 'mean', title, name,
    hint: `${name} · the bar is the 95% interval, broken where it rests on few tasks`, numeric: true, sort: true, width: narrow ? 66 : 174,
    aside: !narrow && ranking.mean_low.some(Number.isFinite) ? '95%' : '',
    draw(cell, row) {
      if (rows !== board.rows) [rows, [low, high]] = [board.rows, extent(ranking, board.rows)];
      const [mean, from, to] = [ranking.mean[row], ranking.mean_low[row], ranking.mean_high[row]];
      if (mean === null) {
        cell.textContent = '—';
        missing(cell, whyNot(ranking, row) || 'no headline score');
        return;
      }
      cell.textContent = rounded(mean, digits);
      const interval = meanInterval(ranking, row, digits);
      if (interval) {
        cell.title = `${rounded(mean, digits)}, ${interval}`;
        cell.setAttribute('aria-label', cell.title);
      }
      if (!Number.isFinite(from) || !Number.isFinite(to)) return;
      cell.classList.add(narrow ? 'lk-total' : 'lk-mean');
      if (ranking.few[row]) cell.classList.add('lk-few');
      cell.style.setProperty('--a', part(from));
      cell.style.setProperty('--b', part(to));
      cell.style.setProperty('--m', part(mean));
    },
  };
}

function missing(cell, reason) {
  cell.classList.add('lk-missing');
  cell.title = `No value: ${reason}`;
  cell.setAttribute('aria-label', cell.title);
}

function scoreColumn(board, at) {
  const { payload, ranking, font } = board;
  const column = payload.columns[at];
  const { digits, higher, chance, low, high } = column;
  const heading = higher ? column.title : `${column.title}\u00a0↓`;
  const fit = titleSize(heading, font, [rounded(low, digits), rounded(high, digits)]);
  let [rows, scale] = [null, null];
  const below = payload.suite.synthetic && chance !== null ? `chance ${rounded(chance, digits)}` : '';
  const size = below ? { width: Math.max(fit.width, BELOW), lines: fit.lines + 1 } : fit;
  return {
    key: column.key, title: breakable(heading), name: `${column.title}, ${column.metric_title}`,
    hint: columnHint(column), group: column.group, numeric: true, sort: true, below, ...size, most: Math.max(118, size.width),
    draw(cell, row) {
      const stored = cellAt(payload, ranking, row, at);
      if (stored === null) {
        cell.textContent = '—';
        missing(cell, reasonAt(payload, ranking, row, at));
        return;
      }
      const value = stored / 10 ** digits;
      const text = rounded(value, digits);
      cell.textContent = text;
      const remarks = [];
      const bits = marksAt(payload, ranking, row, at);
      if (rows !== board.scaleRows) {
        rows = board.scaleRows;
        scale = columnScale(rows, (one) => (marksAt(payload, ranking, one, at) & DOUBTFUL ? null : cellAt(payload, ranking, one, at)), higher);
      }
      const shade = bits & DOUBTFUL ? -1 : step(stored, scale);
      if (shade >= 0) cell.classList.add(`lk-shade-${shade}`);
      if (shade >= 0 && stored === scale.best) cell.classList.add('lk-best');
      // A mean of some tasks has a chance of its own.
      if (chance !== null && !(bits & PARTIAL) && (higher ? value <= chance : value >= chance)) {
        cell.classList.add('lk-chance');
        remarks.push('at or below chance');
      }
      if (bits) {
        cell.dataset.mark = MARKS.filter(([bit]) => bits & bit).map(([, mark]) => mark).join('');
        remarks.push(...MARKS.filter(([bit]) => bits & bit).map(([, , words]) => words));
      }
      if (remarks.length) {
        cell.title = `${text}: ${remarks.join('; ')}`;
        cell.setAttribute('aria-label', cell.title);
      }
    },
  };
}
