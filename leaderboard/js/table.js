/** The plain table behind a chart, drawn by the same grid. */

import { css } from './colour.js';
import { el, stylesheet } from './dom.js';
import { Grid } from './grid.js';

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
const CHARACTER = 7;

/** The text of a value: numbers with the column's digits, a dash for a missing one. */
function show(value, { digits }) {
  if (value === null || value === undefined || value === '') return '—';
  return typeof value === 'number' && digits !== undefined ? value.toFixed(digits) : String(value);
}

/** Where a cell leads, relative to the app's root, or ''. */
function address({ link }, row) {
  if (!link || !row[link.at]) return '';
  return link.base + encodeURIComponent(row[link.at]).replaceAll('%2F', '/').replaceAll('%3A', ':');
}

/**
 * Draws a sortable table into `root`. `columns`: [{key, title, numeric, digits, link, hint}], `rows`: arrays in that
 * order, `caption`: a line above it. `link` {base, at} makes a cell an anchor to `base` with the row's entry `at` (it
 * may lie beyond the columns) as its key. Returns {update({columns, rows, caption}), grid}.
 */
export function mountTable(root, { columns, rows, caption = '' }) {
  let given = { columns, rows, caption };
  let sort = null;
  const title = el('p', { class: 'lk-caption' }, caption);
  const grid = new Grid({ label: caption || 'Table', rowHeight: 28, onSort, onOpen });

  function widest({ title: head }, at) {
    let most = head.length + 2;
    for (const row of given.rows.slice(0, 300)) most = Math.max(most, show(row[at], given.columns[at]).length);
    return Math.min(320, Math.max(56, most * CHARACTER + 26));
  }

  function draw() {
    const { columns: all, rows: data } = given;
    const order = data.slice();
    if (sort) {
      const at = all.findIndex(({ key }) => key === sort.key);
      const missing = (value) => value === null || value === undefined || value === '';
      order.sort(({ [at]: one }, { [at]: other }) => {
        if (missing(one) || missing(other)) return Number(missing(one)) - Number(missing(other));
        return (sort.down ? -1 : 1) * (all[at].numeric ? one - other : collator.compare(one, other));
      });
    }
    title.textContent = given.caption;
    title.hidden = !given.caption;
    grid.update({
      sort,
      rows: order,
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
    const column = given.columns.find((one) => one.key === key);
    sort = { key, down: sort?.key === key ? !sort.down : Boolean(column.numeric) };
    draw();
  }

  function onOpen(row, { key }) {
    const to = address(given.columns.find((column) => column.key === key), row);
    if (to) location.assign(new URL(to, document.baseURI));
  }

  root.classList.add('likeness-board', 'lk-plain');
  root.replaceChildren(title, grid.node);
  stylesheet(css()).then(draw);
  draw();
  return {
    grid,
    update(change) {
      given = { ...given, ...change };
      if (sort && !given.columns.some(({ key }) => key === sort.key)) sort = null;
      draw();
    },
  };
}
