/** Tables that are fetched and drawn once they come into view: every `.lk-data` of a page, from its `data-source`. */

import { encodedKey } from './address.js';
import { el, follow, gridStyles } from './dom.js';
import { sorted } from './facets.js';
import { Grid } from './grid.js';
import { rounded } from './number.js';
import { getJson } from './request.js';
import { wire } from './run_details.js';

const CHARACTER = 7;

/** The text of a value: numbers with the column's digits, a dash for a missing one. */
function show(value, { digits }) {
  if (value === null || value === undefined || value === '') return '—';
  return typeof value === 'number' && digits !== undefined ? rounded(value, digits) : String(value);
}

/** Where a cell leads, relative to the app's root, or ''. */
function address({ link }, row) {
  if (!link || !row[link.at]) return '';
  return link.base + encodedKey(row[link.at]);
}

/**
 * Draws a sortable table into `root`. `columns`: [{key, title, numeric, digits, link, hint}], `rows`: arrays in that
 * order, `caption`: a line above it. `link` {base, at} makes a cell an anchor to `base` with the row's entry `at` (it
 * may lie beyond the columns) as its key.
 */
function mountTable(root, { columns: all, rows: data, caption = '' }) {
  let sort = null;
  const title = el('p', { class: 'lk-caption', hidden: !caption }, caption);
  const grid = new Grid({ label: caption || 'Table', rowHeight: 28, onSort, onOpen });

  function widest({ title: head }, at) {
    let most = head.length + 2;
    for (const row of data.slice(0, 300)) most = Math.max(most, show(row[at], all[at]).length);
    return Math.min(320, Math.max(56, most * CHARACTER + 26));
  }

  function draw() {
    grid.update({
      sort,
      rows: sorted(data, sort, all.map(({ key }, at) => ({ key, value: (row) => row[at] }))),
      columns: all.map((column, at) => ({
        key: column.key, title: column.title, numeric: column.numeric, sort: true, width: widest(column, at), most: 420,
        pinned: at === 0 && root.clientWidth > 480,
        hint: column.hint,
        draw: (cell, row) => {
          const text = show(row[at], column);
          const to = address(column, row);
          if (to) cell.replaceChildren(el('a', { href: to, tabindex: '-1' }, text));
          else cell.textContent = text;
          if (!column.numeric) cell.title = text;
        },
      })),
    });
  }

  function onSort(key) {
    const column = all.find((one) => one.key === key);
    sort = { key, down: sort?.key === key ? !sort.down : Boolean(column.numeric) };
    draw();
  }

  function onOpen(row, { key }) {
    const to = address(all.find((column) => column.key === key), row);
    if (to) follow(to);
  }

  root.classList.add('likeness-board', 'lk-plain');
  root.replaceChildren(title, grid.node);
  gridStyles().then(draw);
  draw();
}

const observed = new WeakSet();

async function fill(root) {
  const { source, label } = root.dataset;
  try {
    const data = await getJson(new URL(source, document.baseURI));
    if (!root.isConnected) return;
    if (!data.rows.length) {
      root.replaceChildren(el('p', { class: 'pg-quiet' }, data.empty ?? 'There is nothing to list here.'));
    } else {
      const table = el('div');
      root.replaceChildren(table);
      mountTable(table, data);
    }
    root.dataset.ready = String(data.rows.length);
  } catch (error) {
    const retry = el('button', { type: 'button', class: 'pg-copy', onclick: () => fill(root) }, 'Try again');
    root.replaceChildren(el('p', { class: 'pg-quiet' }, `${label} could not be loaded. ${error.message} `, retry));
    root.dataset.ready = 'error';
  }
}

/** Fills the tables of a page and wires its run details, also those that Gradio draws later. */
export function watch(page = document.body) {
  gridStyles();
  const inView = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      inView.unobserve(target);
      fill(target);
    }
  }, { rootMargin: '200px' });
  const scan = () => {
    page.querySelectorAll('.lk-run').forEach(wire);
    for (const root of page.querySelectorAll('.lk-data')) {
      if (observed.has(root)) continue;
      observed.add(root);
      inView.observe(root);
    }
  };
  // Typing into a list replaces the chosen name instead of adding to it.
  page.addEventListener('click', ({ target }) => {
    if (target.matches('.pg-controls input[role=combobox]') && target.selectionStart === target.selectionEnd) target.select();
  });
  new MutationObserver(scan).observe(page, { childList: true, subtree: true });
  scan();
}
