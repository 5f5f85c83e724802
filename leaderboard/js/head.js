/** The header of a grid: a row of groups (where columns have any) above a row of titles, each sortable one a button. */

import { el } from './dom.js';
import { target } from './grid.js';

/** Draws the header of the columns in view. */
export function paintHead(grid) {
  const drawn = grid.drawn();
  const space = () => el('span', { class: 'lk-gap', style: `width:${grid.gap()}px` });
  const cells = drawn.map((column) => headCell(grid, column));
  const rows = [el('div', { class: 'lk-row lk-titles', role: 'row', 'aria-rowindex': grid.headRows() },
    ...cells.slice(0, grid.pinned), space(), ...cells.slice(grid.pinned))];
  if (grid.grouped) {
    const spans = groupCells(grid, drawn);
    rows.unshift(el('div', { class: 'lk-row lk-groups', role: 'row', 'aria-rowindex': 1 },
      ...spans.pinned, space(), ...spans.free));
  }
  grid.head.replaceChildren(...rows);
}

function headCell(grid, column) {
  const { key, title, name = title, hint = '', numeric, pinned, sort, aside = '', below = '' } = grid.columns[column];
  const classes = `lk-th${numeric ? ' lk-num' : ''}${pinned ? ' lk-pin' : ''}`;
  const cell = el('div', { role: 'columnheader', class: classes, title: hint, 'data-key': key });
  if (sort) {
    const down = grid.sort?.key === key ? grid.sort.down : null;
    cell.setAttribute('aria-sort', down === null ? 'none' : down ? 'descending' : 'ascending');
  }
  const label = name === title ? null : name;
  if (sort) cell.append(el('button', { class: 'lk-sort', 'aria-label': label, type: 'button' },
    aside && el('small', {}, aside), el('span', {}, title, below && el('small', { class: 'lk-below' }, below))));
  else {
    if (label) cell.setAttribute('aria-label', label);  // a span without a role must not carry it
    cell.append(el('span', { class: 'lk-sort' }, title));
  }
  grid.place(cell, column);
  target(cell).tabIndex = grid.isActive(-1, column) ? 0 : -1;
  return cell;
}

/** One cell for each run of drawn columns of a group; the pinned ones stay apart, so that they can stick. */
function groupCells(grid, drawn) {
  const runs = [];
  for (const column of drawn) {
    const { group = '', pinned } = grid.columns[column];
    const last = runs.at(-1);
    if (last && last.group === group && last.pinned === Boolean(pinned)) last.columns.push(column);
    else runs.push({ group, pinned: Boolean(pinned), columns: [column] });
  }
  const cells = runs.map(({ group, pinned, columns }) => {
    const width = columns.reduce((sum, column) => sum + grid.widths[column], 0);
    const label = el('span', {}, group);
    const classes = `lk-group${pinned ? ' lk-pin' : ''}${group ? ' lk-named' : ''}`;
    const cell = el('div', { role: 'columnheader', class: classes, title: group,
      'aria-colindex': columns[0] + 1, 'aria-colspan': columns.length }, label);
    cell.style.width = `${width}px`;
    cell.style.left = pinned ? `${grid.starts[columns[0]]}px` : '';
    label.style.left = pinned ? '' : `${grid.pinnedWidth + 8}px`;
    return cell;
  });
  return { pinned: cells.filter((_, at) => runs[at].pinned), free: cells.filter((_, at) => !runs[at].pinned) };
}
