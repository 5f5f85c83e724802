/** The SQL page: a query, examples, the answer as a table drawn only where visible, and the tables there are. */

import { withValues } from '../../js/address.js';
import { button, debounce, el, save, writeQuery } from '../../js/dom.js';
import { Grid } from '../../js/grid.js';
import { load } from '../../js/loading.js';
import { getJson } from '../../js/request.js';
import { show as showNode } from '../../js/reveal.js';
import { csv, json } from './files.js';

const PATIENCE = 40000; // ms
const WIDEST = 420; // px of a column
const LETTER = 7.4; // px of a letter, on average
const SAMPLE = 60; // rows that a column's width is measured on

/** The query in an address, '' for none. */
export const parse = (search) => new URLSearchParams(search).get('query') ?? '';

/** The query string with a query in it; other parameters stay. */
export const write = (sql, search) => withValues(search, { query: sql });

/** A cell as text. */
export const shown = (value) => (value === null ? '—' : String(value));

/** Widths in px that the names and the first rows of each column ask for. */
export function widths({ columns, rows }) {
  return columns.map(({ name }, at) => {
    const longest = rows.slice(0, SAMPLE).reduce((most, row) => Math.max(most, shown(row[at]).length), name.length + 2);
    return Math.min(WIDEST, Math.max(56, Math.round(longest * LETTER) + 24));
  });
}

/** Mounts the page into `root`; the addresses of the description and of the answers. Nothing runs before Run is pressed. */
export function mount(root, { description, answer }) {
  root.classList.add('likeness-board', 'lk-sql');
  load(root, { source: description, what: 'tables', styles: new URL('./sql.css', import.meta.url) }, (data) => show(root, data, answer));
}

function show(root, { tables, examples, bounds, longest }, address) {
  const linked = parse(location.search);
  const text = el('textarea', {
    class: 'lk-query', 'aria-label': 'SQL query', rows: '10', spellcheck: 'false', autocapitalize: 'off', maxlength: longest,
    value: linked || examples[0].sql,
  });
  const status = el('p', { class: 'lk-status lk-said', role: 'status' },
    linked ? 'This query came with the link. Read it, then press Run.' : 'Press Run, or Ctrl+Enter in the query; an example runs at once.');
  const result = el('section', { class: 'lk-result', 'aria-label': 'Answer' });
  const remember = debounce(() => writeQuery(write(text.value === examples[0].sql ? '' : text.value, location.search)), 150);

  async function run() {
    start.disabled = true;
    status.textContent = 'Running …';
    root.dataset.state = 'running';
    try {
      const found = await getJson(new URL(address, document.baseURI), {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ sql: text.value }), patience: PATIENCE,
      });
      status.textContent = summary(found);
      status.classList.remove('lk-failed');
      result.replaceChildren(...table(found));
      showNode(result);
      root.dataset.state = 'answered';
    } catch (error) {
      status.textContent = error.message;
      status.classList.add('lk-failed');
      result.replaceChildren();
      root.dataset.state = 'failed';
    } finally {
      start.disabled = false;
    }
  }

  const start = button('Run', run, { class: 'lk-button lk-start' });
  text.addEventListener('input', remember);
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (!start.disabled) run();
    }
  });
  const choose = (sql) => {
    text.value = sql;
    text.focus();
    remember();
    if (!start.disabled) run();
  };
  const chosen = el('section', { class: 'lk-examples', 'aria-label': 'Examples' }, el('h2', {}, 'Examples'),
    el('ul', {}, ...examples.map(({ title, sql }) => el('li', {}, el('button', { type: 'button', class: 'lk-example', onclick: () => choose(sql) }, title)))));
  const listed = el('section', { class: 'lk-schema', 'aria-label': 'Tables' }, el('h2', {}, 'Tables'),
    el('p', { class: 'lk-quiet' }, el('a', { href: 'docs/results#the-database' }, 'How the database is built and read')), ...tables.map(described));
  root.replaceChildren(
    el('div', { class: 'lk-writing' },
      el('div', {}, text, el('div', { class: 'lk-bar' }, start, status), el('p', { class: 'lk-quiet' }, bounds)), chosen),
    result, listed);
  root.dataset.ready = String(tables.length);
}

function summary({ rows, truncated, cells, seconds }) {
  const count = `${rows.length.toLocaleString('en')} row${rows.length === 1 ? '' : 's'} in ${seconds} s.`;
  const cropped = cells ? `${cells.toLocaleString('en')} long text${cells === 1 ? ' is' : 's are'} cut.` : '';
  return [count, truncated, cropped].filter(Boolean).join(' ');
}

function table(found) {
  if (!found.rows.length) return [el('p', { class: 'lk-quiet' }, `The answer has no rows. ${found.hint ?? ''}`)];
  const room = widths(found);
  const grid = new Grid({ label: 'Answer', rowHeight: 26 });
  grid.update({
    rows: found.rows,
    columns: found.columns.map(({ name, type, numeric }, at) => ({
      key: String(at), title: name, name: `${name}, ${type}`, hint: type, width: room[at], most: room[at] + 40, numeric,
      draw: (cell, row) => {
        cell.textContent = shown(row[at]);
        cell.title = cell.textContent;
      },
    })),
  });
  const files = el('div', { class: 'lk-bar' },
    button('Save as CSV', () => save(new Blob([csv(found)], { type: 'text/csv;charset=utf-8' }), 'likeness-query.csv')),
    button('Save as JSON', () => save(new Blob([json(found)], { type: 'application/json' }), 'likeness-query.json')));
  return [grid.node, files];
}

function described({ name, words, columns }) {
  return el('details', {}, el('summary', {}, el('code', {}, name), ' ', el('span', { class: 'lk-quiet' }, words)),
    el('ul', {}, ...columns.map(([column, type]) => el('li', {}, el('code', {}, column), ' ', el('span', { class: 'lk-quiet' }, type)))),
    el('p', {}, el('a', { href: `docs/results#${name}`, 'aria-label': `${name} in the documentation` }, 'In the documentation')));
}
