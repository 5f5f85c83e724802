/** A list with a search, filters and a sort kept in the address; its rows are drawn only where they are visible. */

import { button, debounce, el, follow, writeQuery } from './dom.js';
import { parse, select, write } from './facets.js';
import { Grid } from './grid.js';
import { load } from './loading.js';
import { createNoResults } from './no_results.js';

const REMEMBERED_AFTER = 150; // ms
const TYPED_AFTER = 60; // ms
const NARROW = 640; // px of the list, on a screen of about 700

/**
 * Fetches `source` and draws the list into `root`. `describe(data)` gives {noun, rows, facets, columns, caption}: rows
 * with `text` for the search; facets {key, title, options, test}; columns as Grid has them, with `value(row, state)` to
 * sort by, `draw(cell, row, state)`, and `open(row)`, the address that Enter or a click on the cell leads to;
 * `caption(state)`, a line on how to read the table.
 */
export function mountCatalogue(root, source, describe) {
  root.classList.add('lk-catalogue');
  load(root, { source, what: 'list', styles: new URL('./catalogue.css', import.meta.url) }, (data) => show(root, describe(data)));
}

function show(root, { noun, rows, facets, columns, caption }) {
  const { state, ignored } = parse(location.search, { facets, sorts: columns.filter(({ value }) => value).map(({ key }) => key) });
  const notice = el('p', { class: 'lk-notice', hidden: !ignored.length },
    `The address has unknown values for ${ignored.join(', ')}; they are ignored.`);
  const search = el('input', {
    type: 'search', class: 'lk-input lk-search', placeholder: `Filter ${noun} by name`, 'aria-label': `Filter ${noun} by name`,
    autocomplete: 'off', spellcheck: 'false', maxlength: 200, value: state.q,
  });
  const menus = facets.map(({ key, title, options }) => {
    const menu = el('select', { class: 'lk-choose', onchange: () => change({ [key]: menu.value }) },
      el('option', { value: '' }, 'any'), ...options.map(([value, label]) => el('option', { value }, label)));
    return { key, menu, node: el('label', { class: 'lk-facet-menu' }, el('span', {}, title), menu) };
  });
  // On a phone the filters are folded, so that the first rows are on the first screen.
  const folded = el('details', { class: 'lk-fold', open: root.clientWidth >= NARROW || facets.some(({ key }) => state[key]) },
    el('summary', {}, 'Filters'), el('div', { class: 'lk-fold-menus' }, ...menus.map(({ node }) => node)));
  const status = el('span', { class: 'lk-status', role: 'status' });
  const clear = button('Show all', () => {
    search.value = '';
    change({ q: '', ...Object.fromEntries(facets.map(({ key }) => [key, ''])) });
  });
  const line = el('p', { class: 'lk-caption' });
  const grid = new Grid({ label: `List of ${noun}`, rowHeight: 34, onSort, onOpen, onLayout: () => draw() });
  const noResults = createNoResults((name) => {
    search.value = name;
    change({ q: name });
  }, button('Show all', () => clear.click()));
  const remember = debounce(() => writeQuery(write(state, location.search)), REMEMBERED_AFTER);

  function change(patch) {
    Object.assign(state, patch);
    grid.node.scrollTop = 0;
    refresh();
  }

  function onSort(key) {
    const first = Boolean(columns.find((column) => column.key === key).largest); // the largest first where that is asked for most
    state.sort = { key, down: state.sort?.key === key ? !state.sort.down : first };
    change({});
  }

  function onOpen(row, { open = columns[0].open }) {
    const address = open(row, state);
    if (address) follow(address);
  }

  function draw(shown = grid.rows) {
    const narrow = root.clientWidth < NARROW;
    grid.update({
      rows: shown,
      sort: state.sort,
      columns: columns.map((column, at) => ({
        ...column, sort: Boolean(column.value), pinned: at === 0 && !narrow, draw: (cell, row) => column.draw(cell, row, state),
      })),
    });
  }

  function refresh() {
    const shown = select(rows, state, { facets, columns });
    for (const { key, menu } of menus) menu.value = state[key];
    status.textContent = `${shown.length.toLocaleString('en')} of ${rows.length.toLocaleString('en')} ${noun}`;
    clear.hidden = !state.q && facets.every(({ key }) => !state[key]);
    line.textContent = caption(state);
    noResults.refresh(shown.length, state.q, rows.map(({ title }) => title));
    grid.node.hidden = !shown.length;
    draw(shown);
    root.dataset.rows = String(shown.length);
    remember();
  }

  search.addEventListener('input', debounce(() => change({ q: search.value }), TYPED_AFTER));
  root.replaceChildren(notice, el('div', { class: 'lk-bar' }, search, folded, status, clear), line,
    grid.node, noResults.node);
  refresh();
  root.dataset.ready = String(rows.length);
}

/** A row of the server's as an object. */
export const record = (fields, values) => Object.fromEntries(fields.map((field, at) => [field, values[at]]));

/** A cell of text, a dash where our sources have none. */
export function dash(cell, text) {
  cell.textContent = text || '—';
  cell.title = text || 'Our sources do not state it';
}

/** A cell with a link, and quiet words after it. Data goes in as text. */
export function linked(cell, address, text, after = '') {
  const name = address ? el('a', { href: address, tabindex: '-1' }, text) : el('span', {}, text);
  cell.replaceChildren(name, ...(after ? [el('small', { class: 'lk-after' }, after)] : []));
  cell.title = [text, after].filter(Boolean).join(' · ');
}

/** Bars from 0 to 100 side by side, a dot for a missing one; `words` is what a screen reader says. */
export function bars(levels, words) {
  return el('span', { class: 'lk-bars', role: 'img', 'aria-label': words },
    ...levels.map((level) => el('i', level === null ? { class: 'lk-none' } : { style: `height:${Math.max(6, level)}%` })));
}

/** Ticks on a line from 0 to 100; `words` is what a screen reader says. */
export function ticks(positions, words) {
  return el('span', { class: 'lk-ticks', role: 'img', 'aria-label': words },
    ...positions.map((position) => el('i', { style: `left:${position}%` })));
}
