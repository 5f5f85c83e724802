/** The claims page: counts that filter, a search, a table drawn only where visible, and the chosen claim in full. */

import { button, debounce, el, gridStyles, stylesheet } from '../../js/dom.js';
import { Grid } from '../../js/grid.js';
import { getJson } from '../../js/request.js';

export const VERDICTS = ['conflict', 'rounding', 'cannot be recomputed', 'reproduces'];
const NAMES = {
  conflict: 'Conflict', rounding: 'Rounding', 'cannot be recomputed': 'Cannot be recomputed', reproduces: 'Reproduces',
};
// With soft hyphens, for the narrow heads of the counts.
const HEADS = {
  conflict: 'Con\u00adflict', rounding: 'Round\u00ading', 'cannot be recomputed': 'Cannot be recom\u00adputed',
  reproduces: 'Repro\u00adduces',
};
const COLUMNS = [
  { key: 'verdict', title: 'Verdict', width: 84, most: 160 },
  { key: 'paper', title: 'Paper', width: 88, most: 110 },
  { key: 'claim', title: 'Claim', width: 270, most: 460 },
  { key: 'where', title: 'Where', width: 118, most: 190 },
  { key: 'printed', title: 'Printed', width: 92, most: 150 },
  { key: 'recomputed', title: 'Recomputed', width: 104, most: 170 },
  { key: 'formula', title: 'Computed as', width: 170, most: 330 },
  { key: 'note', title: 'Note', width: 190, most: 420 },
];
const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Paper, verdict, search and sort of a query string; what is unknown is left out and named in `ignored`. */
export function parse(search, papers) {
  const query = new URLSearchParams(search);
  const ignored = [];
  const one = (key, known) => {
    const value = query.get(key) ?? '';
    if (value && !known.includes(value)) ignored.push(key);
    return known.includes(value) ? value : '';
  };
  const [paper, verdict] = [one('paper', papers), one('verdict', VERDICTS)];
  const sort = one('sort', COLUMNS.flatMap(({ key }) => [key, `-${key}`]));
  const state = {
    paper, verdict, q: (query.get('q') ?? '').slice(0, 200),
    sort: sort ? { key: sort.replace('-', ''), down: sort.startsWith('-') } : null,
  };
  return { state, ignored };
}

/** The query string of a state, '' for the default; other parameters stay. */
export function write(state, search) {
  const query = new URLSearchParams(search);
  const values = { ...state, sort: state.sort ? `${state.sort.down ? '-' : ''}${state.sort.key}` : '' };
  for (const [key, value] of Object.entries(values)) {
    if (value) query.set(key, value);
    else query.delete(key);
  }
  return query.toString();
}

/** The claims that pass, in order: as the server gives them (conflicts first), or by a column. */
export function select(claims, { paper, verdict, q, sort }) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = claims.filter((claim) => (!paper || claim.paper === paper) && (!verdict || claim.verdict === verdict)
    && words.every((word) => claim.text.includes(word)));
  if (!sort) return rows;
  const way = sort.down ? -1 : 1;
  const value = (claim) => (sort.key === 'verdict' ? String(VERDICTS.indexOf(claim.verdict)) : claim[sort.key]);
  return rows.sort((one, other) => Number(!value(one)) - Number(!value(other)) || way * collator.compare(value(one), value(other)));
}

/** Mounts the page into `root`; `source` is the address of the claims. */
export async function mount(root, source) {
  root.classList.add('likeness-board', 'lk-claims');
  const say = (...parts) => root.replaceChildren(el('div', { class: 'lk-state', role: 'status' }, ...parts));
  say('Loading the claims …');
  let data;
  try {
    [data] = await Promise.all([getJson(new URL(source, document.baseURI)), gridStyles(), stylesheet(new URL('./claims.css', import.meta.url))]);
  } catch (error) {
    say(`The claims could not be loaded. ${error.message}`, button('Try again', () => mount(root, source)));
    return;
  }
  show(root, data);
}

function show(root, { fields, rows, tables }) {
  const claims = rows.map((row) => {
    const claim = Object.fromEntries(fields.map((field, at) => [field, row[at]]));
    return { ...claim, text: row.join(' ').toLowerCase() };
  });
  const papers = [...new Set(claims.map(({ paper }) => paper))];
  const { state, ignored } = parse(location.search, papers);
  const notice = el('p', { class: 'lk-notice', hidden: !ignored.length },
    `The address has unknown values for ${ignored.join(', ')}; they are ignored.`);
  const counts = el('div', { class: 'lk-counts', role: 'group', 'aria-label': 'Filter by paper and verdict' });
  const search = el('input', {
    type: 'search', class: 'lk-input lk-search', placeholder: 'Search claims', 'aria-label': 'Search claims', value: state.q,
  });
  const status = el('span', { class: 'lk-status', role: 'status' });
  const clear = button('Show all', () => {
    Object.assign(state, { paper: '', verdict: '', q: '' });
    search.value = '';
    draw();
  });
  const grid = new Grid({ label: 'Claims', rowHeight: 28, onSort, onOpen: (claim) => detail(claim) });
  const empty = el('div', { class: 'lk-state lk-empty', hidden: true }, 'No claim matches. Clear the search or choose another paper.');
  const pane = el('section', { class: 'lk-detail', 'aria-live': 'polite', 'aria-label': 'The chosen claim' });
  const remember = debounce(() => {
    const query = write(state, location.search);
    history.replaceState(history.state, '', location.pathname + (query ? `?${query}` : ''));
  }, 150);

  function filter(change) {
    const off = Object.entries(change).every(([key, value]) => state[key] === value);
    Object.assign(state, off ? { paper: '', verdict: '' } : change);
    draw();
  }

  function tally() {
    const line = (paper, name) => {
      const own = claims.filter((claim) => !paper || claim.paper === paper);
      const cell = (verdict, count) => el('button', {
        type: 'button', class: `lk-tallycell${verdict === 'conflict' && count ? ' lk-bad' : ''}`, disabled: !count,
        'aria-pressed': String(state.paper === paper && state.verdict === verdict),
        'aria-label': `${name}, ${verdict ? NAMES[verdict].toLowerCase() : 'all'}: ${count} claims`,
        onclick: () => filter({ paper, verdict }),
      }, count.toLocaleString('en'));
      return [el('span', { class: 'lk-tallyname' }, name),
        ...VERDICTS.map((verdict) => cell(verdict, own.filter((claim) => claim.verdict === verdict).length)), cell('', own.length)];
    };
    const heads = ['', ...VERDICTS.map((verdict) => HEADS[verdict]), 'All'].map((name) => el('span', { class: 'lk-tallyhead' }, name));
    counts.replaceChildren(...heads, ...papers.flatMap((paper) => line(paper, paper)), ...line('', 'All papers'));
  }

  function onSort(key) {
    state.sort = { key, down: state.sort?.key === key ? !state.sort.down : false };
    draw();
  }

  function detail(claim) {
    const links = (tables[`${claim.paper}|${claim.where}`] ?? []).flatMap(({ key, source, suite }) => [
      ' ', el('a', { href: `published/${key}.csv`, download: '' }, `${source} as CSV`),
      suite && ' ', suite && el('a', { href: `board?suite=${suite}` }, 'on the board')]);
    const lines = [['Printed', claim.printed], ['Recomputed', claim.recomputed], ['Computed as', claim.formula], ['Note', claim.note]];
    pane.replaceChildren(
      el('h2', {}, claim.claim),
      el('p', { class: 'lk-quiet' }, `${claim.paper}, ${claim.where}. ${NAMES[claim.verdict]}.`, ...links),
      el('dl', {}, ...lines.filter(([, text]) => text).flatMap(([name, text]) => [el('dt', {}, name), el('dd', {}, text)])),
    );
  }

  function draw() {
    const rowsNow = select(claims, state);
    tally();
    status.textContent = `${rowsNow.length.toLocaleString('en')} of ${claims.length.toLocaleString('en')} claims`;
    clear.disabled = !state.paper && !state.verdict && !state.q;
    empty.hidden = rowsNow.length > 0;
    grid.node.hidden = !rowsNow.length;
    grid.node.scrollTop = 0;
    grid.update({
      rows: rowsNow, sort: state.sort,
      columns: COLUMNS.map((column) => ({
        ...column, sort: true,
        draw: (cell, claim) => {
          const text = column.key === 'verdict' ? NAMES[claim.verdict] : claim[column.key] || '—';
          cell.textContent = text;
          cell.title = text;
          if (column.key === 'verdict') cell.classList.add(`lk-verdict-${VERDICTS.indexOf(claim.verdict)}`);
        },
      })),
    });
    if (rowsNow.length) detail(rowsNow[0]);
    else pane.replaceChildren();
    root.dataset.rows = String(rowsNow.length);
    remember();
  }

  search.addEventListener('input', debounce(() => {
    state.q = search.value.slice(0, 200);
    draw();
  }, 80));
  root.replaceChildren(notice, counts, el('div', { class: 'lk-bar' }, search, status, clear), grid.node, empty, pane);
  draw();
  root.dataset.ready = String(claims.length);
}
