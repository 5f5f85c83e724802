/** The columns of the board: what a cell shows, how wide it is and what a screen reader says. */

import { step } from './colour.js';
import { filledPattern } from '../../js/address.js';
import { el } from '../../js/dom.js';
import { rounded } from '../../js/number.js';
import { axisOf, partOf } from './interval.js';
import { linesOf, shortNames } from './names.js';
import { cellAt, DOUBTFUL, FACTS, isLeftOut, familyIndex, kindTitle, originsOf, originTitle } from './rows.js';
import { usualColumns } from './state.js';
import { breakable, textWidth, titleSize, widthFor } from './titles.js';

const PARTIAL = 8;
export const ESTIMATED = 32;
export const APART = DOUBTFUL | PARTIAL | ESTIMATED; // never the best of its column, and an end of its shading
const BELOW = 90; // px that the line below a title takes
const SELECT = 32;
const PHONE_NAME = 134; // px of the column of names on a phone
const NAME_ROOM = 17; // px around a name in its cell
const UNDER = 220; // px that the line below a name may claim
const BADGE_ROOM = 16;
const ROOM = 19; // px around the text of a cell that is not sorted by
const SCROLLBAR = 15;
const [INTERVAL, MOST_INTERVAL] = [176, 640]; // px of the column of drawn intervals
const END = 14; // px beside the axis of the intervals

export const MARKS = [
  [1, '†', 'trained on this data set'],
  [2, '?', 'doubtful: its cell says why'],
  [4, '‡', 'another source prints another number'],
  [8, '~', 'mean of only some of its tasks'],
  [16, '*', 'mean as the paper prints it; some of its tasks are missing'],
  [ESTIMATED, '≈', 'estimated from the tasks that the model has; takes no rank, its interval is about these tasks'],
];

/** The mark of a row that no model of the same size or smaller significantly beats, among those whose size is known. */
export const FRONT = { sign: '◆', words: 'no model of the same size or smaller is significantly better' };

/** A stored integer as the paper prints it. */
export const shown = (stored, digits) => rounded(stored / 10 ** digits, digits);

/** The marks of a cell as bits; a ranking over chosen tasks brings those of its families. */
export function marksAt(payload, ranking, row, column) {
  const family = ranking.family_marks ? familyIndex(payload, column) : undefined;
  return family === undefined ? payload.marks[`${row},${column}`] ?? 0 : ranking.family_marks[row][family];
}

/** Why a cell is empty. */
export function reasonAt(payload, ranking, row, column) {
  if (isLeftOut(payload, ranking, row, column)) return 'left out as doubtful';
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

/** One sentence on a score column: metric, direction, chance, number of items. */
export function columnHint({ title, group, metric_title: metric, higher, chance, n, digits, hint, private: isPrivate }) {
  const parts = [`${group && group !== title ? `${group}: ` : ''}${title}`, `${metric}, ${higher ? 'higher' : 'lower'} is better`];
  if (hint) parts.push(hint);
  if (isPrivate) parts.push('private test set: only its keepers can measure it');
  if (chance !== null && chance !== undefined) parts.push(`chance ${rounded(chance, digits)}`);
  if (n) parts.push(`${n.toLocaleString('en')} items`);
  return parts.join(' · ');
}

/** Row numbers of the origins shown, whatever else is hidden. */
const originRows = ({ payload, state: { origin } }) => payload.rows.flatMap((row, at) => (!origin.length || origin.includes(row.origin) ? [at] : []));

/** Columns that are off until they are switched on under Columns. */
export const OPTIONAL = [
  { key: 'interval', title: 'Intervals of the mean, drawn', hint: 'The 95% interval of each mean on one axis', exists: ({ ranking }) => ranking.mean_low.some(Number.isFinite) },
  ...FACTS.slice(1).map(({ key, title, hint, of }) => ({ key, title, hint, exists: ({ payload }) => payload.rows.some((row) => of(row) !== null) })),
];

// Whether a column has something to show in a row; one that has not in any row is hidden.
const TELLS = {
  parameters: ({ payload }, row) => payload.rows[row].parameters !== null,
  coverage: ({ ranking }, row) => ranking.coverage[row] < 1 && ranking.rank[row] !== null, // the others say it below their names
  range: ({ ranking }, row) => ranking.low[row] !== null,
  class: ({ ranking }, row) => Boolean(ranking.tie[row]),
};

/** Whether an optional column is on: where nothing was chosen, the drawn intervals are as soon as there is room. */
export const isOn = ({ state, roomy }, key) => state[key] === 'show' || (key === 'interval' && roomy && state[key] !== 'hide');

/** Whether a column other than a score is shown: the one that the table is sorted by always, others where they tell something. */
function isShown(board, key) {
  const { payload, ranking, state, scaleRows } = board;
  if (key === 'rank') return originRows(board).some((row) => ranking.rank[row] !== null);
  const sorted = state.sort.key === key;
  const optional = OPTIONAL.find((one) => one.key === key);
  if (optional) return optional.exists(board) && (sorted || isOn(board, key));
  if (sorted) return true;
  // Where people rank, the headline is one of the columns: shown there, it is not repeated.
  const { people } = payload.suite;
  if (key === 'mean' && people && scoresShown(board).some((at) => payload.columns[at].key === people)) return false;
  if (key === 'mean') return originRows(board).some((row) => ranking.mean[row] !== null);
  return scaleRows.some((row) => TELLS[key](board, row));
}

/** Numbers of the score columns shown, in the payload's order: those chosen, and the one that the table is sorted by. */
export function scoresShown(board) {
  const { payload, ranking, state } = board;
  const chosen = new Set([...state.families, ...state.columns]);
  const usual = Object.values(usualColumns(payload, state.tasks)).flat();
  // What the visitor chose stays also where it is empty; of the usual columns those with a score are shown.
  const own = usual.length !== chosen.size || usual.some((key) => !chosen.has(key));
  const rows = own ? [] : originRows(board);
  return payload.columns.flatMap(({ key }, at) => {
    const shown = key === state.sort.key || (chosen.has(key) && (own || rows.some((row) => cellAt(payload, ranking, row, at) !== null)));
    return shown ? [at] : [];
  });
}

/** The keys of the columns shown in `BESIDE` and of the scores: when they change, the table is laid out again. */
export const shownKeys = (board) => [...Object.keys(BESIDE).filter((key) => isShown(board, key)), ...scoresShown(board)];

/** Whether the columns are wider than the page, and the px that the drawn intervals may take beside them; 0 for too few. */
export function roomOf({ grid, narrow, comfortable, widest }) {
  const room = grid.node.offsetWidth;
  const fits = !narrow && comfortable + INTERVAL <= room;
  return { tight: comfortable > room, roomy: fits ? Math.max(INTERVAL, Math.min(MOST_INTERVAL, room - widest)) : 0 };
}

/** The grid's columns for a board's payload, state and ranking: with short titles where the whole ones do not fit. */
export function gridColumns(board) {
  Object.assign(board, { tight: false, roomy: 0 });
  const columns = columnsOf(board);
  board.comfortable = columns.reduce((sum, { width }) => sum + width, SCROLLBAR);
  board.widest = columns.reduce((sum, { width, most = width }) => sum + most, SCROLLBAR);
  Object.assign(board, roomOf(board));
  return board.tight || board.roomy ? columnsOf(board) : columns;
}

function columnsOf(board) {
  const { narrow } = board; // a phone
  const some = (keys) => keys.filter((key) => isShown(board, key)).map((key) => BESIDE[key](board, narrow));
  const pin = (columns) => columns.map((column) => ({ ...column, pinned: true }));
  const shown = scoresShown(board);
  // The word over the columns separates categories from tasks: categories alone need none.
  const tasks = shown.some((at) => board.payload.columns[at].kind === 'task');
  const scores = shown.map((at) => ({ ...scoreColumn(board, at), ...(tasks ? {} : { group: '' }) }));
  const [select, model] = [selectColumn(board), modelColumn(board, narrow)];
  if (narrow) {
    return [...pin([select, model]), ...some(['rank', 'mean', 'range', 'class', 'interval']), ...scores, ...some([...FACTS.map(({ key }) => key), 'coverage'])];
  }
  return [...pin([select, ...some(['rank', 'range', 'class']), model]), ...some([...FACTS.map(({ key }) => key), 'coverage', 'mean', 'interval']), ...scores];
}

function selectColumn({ state, payload }) {
  return {
    key: 'select', title: '', name: 'Select to compare', hint: 'Select 2 to 6 rows to compare', width: SELECT,
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
function whyNot(ranking, row) {
  if (ranking.rank[row] !== null) return '';
  return ranking.why[row].replace(/^Not ranked: /, '') || 'no headline score';
}

/** Whether a row has an estimate in place of a rank, and the sign before its numbers. */
export const isEstimated = (ranking, row) => Number.isFinite(ranking.place?.[row]);
export const estimatedSign = (ranking, row) => (isEstimated(ranking, row) ? '≈' : '');

/** What a rank says, in words. */
export function rankText(ranking, row) {
  const [rank, low, high, tie] = ['rank', 'low', 'high', 'tie'].map((key) => ranking[key][row]);
  if (rank === null) return `Not ranked: ${whyNot(ranking, row)}`;
  if (low === null) return `Rank ${rank}; interval and tie class unknown: ${ranking.unknown[row]}`;
  return `Rank ${rank}, interval ${low} to ${high} (at least 95%)${tie ? `; tie class ${tie}` : ''}`;
}

/** The interval of a row's mean in words, with `digits` decimals. */
export function meanInterval(ranking, row, digits) {
  const [low, high] = [ranking.mean_low[row], ranking.mean_high[row]];
  if (low === null) return ranking.unknown[row] ? `interval unknown: ${ranking.unknown[row]}` : '';
  const less = rounded(ranking.mean[row] - (ranking.excess?.[row] ?? 0), digits);
  const note = less === rounded(ranking.mean[row], digits) ? '' : `; of ${less}, the mean without the bias of few items, or as if it had every task`;
  return `${ranking.few[row] ? 'at least ' : ''}95% interval ${rounded(low, digits)} to ${rounded(high, digits)}${note}`;
}

/** A range of ranks as its cell has it. */
const shortRange = (low, high) => (low === high ? String(low) : `${low}–${high}`);

function rankColumn({ ranking, payload }, narrow) {
  const before = payload.ranking.rank;
  const moved = Boolean(ranking.changed);
  return {
    key: 'rank', title: 'Rank', hint: 'Rank by the headline; — for a row without one', sort: true, numeric: true,
    width: (narrow ? 54 : 60) + (moved ? 34 : 0),
    draw(cell, row) {
      const rank = ranking.rank[row];
      cell.classList.add('lk-rank');
      cell.title = rankText(ranking, row);
      const delta = moved ? change(rank, before[row]) : '';
      cell.setAttribute('aria-label', delta ? `${cell.title}; by the suite’s own mean ${before[row] ?? 'not ranked'}` : cell.title);
      const place = isEstimated(ranking, row) && `≈${shortRange(ranking.estimated_rank_low[row], ranking.estimated_rank_high[row])}`;
      const parts = [rank === null ? el('b', { class: place ? 'lk-estimated' : 'lk-missing' }, place || '—') : el('b', {}, String(rank))];
      if (delta) parts.unshift(el('em', { class: delta[0] === '▼' || delta === 'out' ? 'lk-down' : 'lk-up' }, delta));
      cell.replaceChildren(...parts);
    },
  };
}

/** Why a row has no interval or class. */
const whyUnknown = (ranking, row) => whyNot(ranking, row) || ranking.unknown[row] || 'not known';

function rangeColumn({ ranking, font }) {
  const texts = ranking.low.map((low, row) => (low === null ? '' : shortRange(low, ranking.high[row])));
  return {
    key: 'range', title: 'Range', name: 'Range of the rank', hint: 'The ranks that the data leave possible, at 95%',
    width: widthFor(['Range', ...texts.map((text) => text.replace(/\d/g, '0'))], font, ROOM), // all digits are as wide as a 0
    draw(cell, row) {
      cell.classList.add('lk-span');
      if (!texts[row]) return missing(cell, whyUnknown(ranking, row), '');
      cell.textContent = texts[row];
      const [low, high] = [ranking.low[row], ranking.high[row]];
      return describe(cell, `${low === high ? `Rank ${low}` : `Ranks ${low} to ${high}`}, at least 95%`);
    },
  };
}

function classColumn({ ranking, font }) {
  return {
    key: 'class', title: 'Class', name: 'Tie class', hint: 'Tie class: no model in it is significantly worse than another. A range holds the ranks that these decisions leave possible, so it may cross a border of classes', width: widthFor(['Class'], font, ROOM),
    draw(cell, row) {
      const tie = ranking.tie[row];
      cell.textContent = tie;
      if (tie) cell.setAttribute('aria-label', `Tie class ${tie}`);
      else missing(cell, whyUnknown(ranking, row), '');
    },
  };
}

/** A click on a name opens the model's facts, as anywhere in its cell; with a key held the link opens its page. */
function onName(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) event.stopPropagation();
  else event.preventDefault();
}

/** The line below a name. */
const underName = ({ organisation, kind }) => [organisation, kindTitle(kind)].filter(Boolean).join(' · ');

/** A model's title without the words that its badge "own" says; a digest stays: it distinguishes models of one name. */
export const titleBeside = ({ own, title }) => (own ? title.replace(/ \(own(?:, ([0-9a-f]{8}))?\)$/, (_, digest) => (digest ? ` (${digest})` : '')) : title);

function modelColumn(board, narrow) {
  const { payload, ranking, state, font } = board;
  const mixed = state.origin.length !== 1 && originsOf(payload).length > 1;
  const nameFont = font.replace('12px', narrow ? '12px' : '13px');
  const width = (text) => textWidth(text, nameFont);
  const badgesOf = ({ id, own, origin }) => [state.pin.includes(id) && 'pinned', own && 'own', mixed && originTitle(origin).toLowerCase()].filter(Boolean);
  const beside = (row) => badgesOf(row).reduce((sum, text) => sum + textWidth(text, font) + BADGE_ROOM, 0);
  const small = (text) => textWidth(text, font.replace('600 12px', '11px'));
  const under = (row, at) => small((ranking.front?.includes(at) ? `${FRONT.sign} ` : '') + (whyNot(ranking, at) || underName(row)));
  const claimed = (row, at) => Math.max(width(titleBeside(row)) + beside(row), Math.min(UNDER, under(row, at)));
  const longest = NAME_ROOM + Math.ceil(Math.max(...payload.rows.map(claimed)));
  const [least, most] = [board.tight ? 226 : 290, 340].map((bound) => Math.max(150, Math.min(bound, longest)));
  const drawn = new Map();

  /** All names as they are shown in so many lines and px, each distinct. */
  function namesIn(lines, room) {
    const key = `${lines} ${room}`;
    if (!drawn.has(key)) drawn.set(key, shortNames(payload.rows.map(titleBeside), (text) => linesOf(text, room, width).length <= lines));
    return drawn.get(key);
  }

  return {
    key: 'title', title: 'Model', hint: 'A name opens the facts of its model', sort: true, ...(narrow ? { width: PHONE_NAME } : { width: least, most }),
    draw(cell, row) {
      const { title, organisation, kind, origin, model } = payload.rows[row];
      const badges = badgesOf(payload.rows[row]);
      const why = whyNot(ranking, row);
      const front = onFront(ranking, row);
      cell.classList.add('lk-model');
      cell.setAttribute('aria-label', [title, organisation, kindTitle(kind), badges.includes(originTitle(origin).toLowerCase()) && originTitle(origin), frontWords(ranking, row), why].filter(Boolean).join(' · '));
      const below = narrow ? badges.length || why : true;
      const mark = narrow && front ? width(front.textContent) : 0; // a phone's name has two lines: the mark stands behind them
      const room = board.grid.widthOf('title') - NAME_ROOM - (narrow ? mark : beside(payload.rows[row]));
      const text = namesIn(below ? 1 : 2, room).get(titleBeside(payload.rows[row]));
      const name = el('a', { class: 'lk-name', href: payload.links?.model && filledPattern(payload.links.model, { model }), tabindex: '-1', onclick: onName },
        below ? text : linesOf(text, room, width).join('\n'));
      cell.classList.toggle('lk-short', narrow);
      cell.classList.toggle('lk-estimated', isEstimated(ranking, row));
      const signs = badges.map((badge) => el('span', { class: 'lk-badge' }, badge));
      if (narrow) {
        if (front) name.replaceChildren(el('span', {}, ...name.childNodes), front);
        cell.replaceChildren(name, ...(below ? [el('small', {}, ...signs, why)] : []));
        return;
      }
      if (badges.length) name.replaceChildren(el('span', {}, text), ...signs);
      cell.replaceChildren(name, el('small', {}, front, why || underName(payload.rows[row])));
    },
  };
}

/** What the mark of a row on the front says, and of how many models with a higher mean it says nothing; '' for others. */
export function frontWords(ranking, row) {
  if (!ranking.front?.includes(row)) return '';
  const untested = ranking.front_untested?.[ranking.front.indexOf(row)];
  return untested ? `${FRONT.words}; ${untested} with a higher mean cannot be tested` : FRONT.words;
}

/** The mark of a row on the front of score and size, null for others: the cell's label says it in words. */
const onFront = (ranking, row) => (ranking.front?.includes(row) ? el('span', { class: 'lk-front', 'aria-hidden': 'true' }, `${FRONT.sign}\u00a0`) : null);

function factColumn({ key, title, short = title, hint, of, text, words }, { payload, font, tight }) {
  const texts = payload.rows.filter((row) => of(row) !== null).map((row) => text(of(row), row));
  const heading = tight ? short : title;
  return {
    key, title: heading, name: title, hint, numeric: true, sort: true, ...titleSize(heading, font, texts, tight),
    draw(cell, row) {
      const model = payload.rows[row];
      const value = of(model);
      if (value === null) return missing(cell, 'not stated');
      cell.textContent = text(value, model);
      return words && describe(cell, words(model));
    },
  };
}

const coverageText = (share) => `${Math.floor(share * 100 + 1e-9)}%`;

/** How many of the tasks a row has a score for, and how many count by a printed mean. */
export function coverageWords(ranking, row) {
  const [own, covered] = [ranking.coverage[row], ranking.covered[row]].map(coverageText);
  return `${own} of the tasks have a score${own === covered ? '' : `; ${covered} with the category means that the paper prints`}`;
}

function coverageColumn({ ranking, font }) {
  return {
    key: 'coverage', title: 'Coverage', hint: 'Share of the tasks this row has a score for; * where printed means stand in for others', numeric: true, sort: true, ...titleSize('Coverage', font),
    draw(cell, row) {
      cell.textContent = coverageText(ranking.coverage[row]);
      if (ranking.coverage[row] < 1) cell.classList.add('lk-partial');
      if (ranking.covered[row] > ranking.coverage[row]) cell.dataset.mark = '*';
      describe(cell, coverageWords(ranking, row));
    },
  };
}

function meanColumn(board, narrow) {
  const { payload, ranking, font } = board;
  const digits = meanDigits(payload);
  const title = ranking.changed ? 'Your mean' : payload.suite.aggregate === 'human' ? 'Human' : 'Mean';
  const name = ranking.changed ? `Your mean: ${ranking.changed}` : payload.suite.mean_title;
  const { width } = titleSize(title, font, ranking.mean.filter(Number.isFinite).map((mean) => rounded(mean, digits)));
  return {
    key: 'mean', title, name, hint: `${name} · a cell says its 95% interval, where it is known`, numeric: true, sort: true, width: narrow ? 62 : width,
    draw(cell, row) {
      const mean = ranking.mean[row];
      if (mean === null) return missing(cell, whyNot(ranking, row) || 'no headline score');
      cell.classList.add('lk-total');
      cell.textContent = estimatedSign(ranking, row) + rounded(mean, digits);
      cell.classList.toggle('lk-estimated', isEstimated(ranking, row));
      const interval = meanInterval(ranking, row, digits);
      return interval && describe(cell, whyNot(ranking, row) || `${cell.textContent}, ${interval}`);
    },
  };
}

/** The intervals of the means on one axis, over all rows of the origins shown: filters do not move it. */
function intervalColumn(board, narrow) {
  const { payload, ranking } = board;
  const axis = axisOf(ranking, originRows(board));
  const width = narrow ? 140 : board.roomy || INTERVAL;
  const x = (value) => END + partOf(axis, value) * (width - 2 * END);
  const px = (value) => `${rounded(value, 1)}px`;
  const digits = meanDigits(payload);
  return {
    key: 'interval', title: '95% interval', name: '95% interval of the mean', hint: 'The mean and its 95% interval, broken where it rests on few tasks; the axis spans all rows',
    width, ticks: axis ? axis.ticks.map(({ value, text }) => ({ x: x(value), text })) : [],
    draw(cell, row) {
      const [mean, from, to] = [ranking.mean[row], ranking.mean_low[row], ranking.mean_high[row]];
      if (!axis || !Number.isFinite(from) || !Number.isFinite(to)) return missing(cell, whyUnknown(ranking, row));
      cell.textContent = '';
      cell.classList.add('lk-interval');
      if (ranking.few[row]) cell.classList.add('lk-few');
      cell.classList.toggle('lk-estimated', isEstimated(ranking, row));
      for (const [name, value] of [['--from', x(from)], ['--to', x(to)], ['--mean', x(mean)], ['--tick', x(axis.ticks[0]?.value ?? axis.low)], ['--step', x(axis.low + axis.step) - x(axis.low)]]) {
        cell.style.setProperty(name, px(value));
      }
      return describe(cell, whyNot(ranking, row) || `${rounded(mean, digits)}, ${meanInterval(ranking, row, digits)}`);
    },
  };
}

/** The columns other than scores, by key: each draws itself for a board. */
const BESIDE = {
  rank: rankColumn, range: rangeColumn, class: classColumn,
  ...Object.fromEntries(FACTS.map((fact) => [fact.key, (board) => factColumn(fact, board)])),
  coverage: coverageColumn, mean: meanColumn, interval: intervalColumn,
};

/** Says more of a cell than it shows, to the eye and to a screen reader. */
function describe(cell, words) {
  cell.title = words;
  cell.setAttribute('aria-label', words);
}

function missing(cell, reason, text = '—') {
  cell.textContent = text;
  cell.classList.add('lk-missing');
  describe(cell, `No value: ${reason}`);
}

/** The lowest, highest and best score of a column over `rows`; `score(row)` is null where there is none that counts. */
export function columnScale(rows, score, higher) {
  const scores = rows.map(score).filter((one) => one !== null);
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  return { low, high, higher, best: higher ? high : low };
}

function scoreColumn(board, at) {
  const { payload, ranking, font, tight } = board;
  const column = payload.columns[at];
  const { digits, higher, chance, low, high, unlike, doubtful } = column;
  const heading = (tight && column.short ? column.short : column.title) + (higher ? '' : '\u00a0↓') + (unlike ? '\u00a0≠' : '') + (doubtful ? '\u00a0?' : '');
  const fit = titleSize(heading, font, [rounded(low, digits), rounded(high, digits)], tight);
  let [rows, scale] = [null, null];
  const below = column.private ? 'private' : payload.suite.synthetic && chance !== null ? `chance ${rounded(chance, digits)}` : '';
  const size = below ? { width: Math.max(fit.width, BELOW), lines: fit.lines + 1 } : fit;
  return {
    key: column.key, title: breakable(heading), name: `${column.title}, ${column.metric_title}`,
    hint: columnHint(column), group: column.group, numeric: true, sort: true, below, ...size, most: Math.max(132, size.width),
    draw(cell, row) {
      const stored = cellAt(payload, ranking, row, at);
      if (stored === null) return missing(cell, reasonAt(payload, ranking, row, at));
      const value = stored / 10 ** digits;
      const text = rounded(value, digits);
      const remarks = [];
      const bits = marksAt(payload, ranking, row, at);
      cell.textContent = bits & ESTIMATED ? `≈${text}` : text;
      cell.classList.toggle('lk-estimated', Boolean(bits & ESTIMATED));
      if (rows !== board.scaleRows) {
        rows = board.scaleRows;
        scale = columnScale(rows, (one) => (marksAt(payload, ranking, one, at) & APART ? null : cellAt(payload, ranking, one, at)), higher);
      }
      const shade = bits & (DOUBTFUL | ESTIMATED) ? -1 : step(stored, scale);
      if (shade >= 0) cell.classList.add(`lk-shade-${shade}`);
      if (shade >= 0 && stored === scale.best && !(bits & PARTIAL)) cell.classList.add('lk-best');
      // A mean of some tasks has another chance level.
      if (chance !== null && !(bits & PARTIAL) && (higher ? value <= chance : value >= chance)) {
        cell.classList.add('lk-chance');
        remarks.push('at or below chance');
      }
      const marks = MARKS.filter(([bit]) => bits & bit);
      const signs = marks.filter(([bit]) => bit !== ESTIMATED).map(([, mark]) => mark).join('');
      if (signs) cell.dataset.mark = signs;
      remarks.push(...marks.map(([, , words]) => words));
      return remarks.length && describe(cell, `${text}: ${remarks.join('; ')}`);
    },
  };
}
