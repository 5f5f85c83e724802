/** A grid which draws only the rows and columns in view, with sticky header rows and pinned first columns. It knows nothing of models: a column draws its own cells, a row is whatever its user passes in. */

import { el } from './dom.js';

const ROWS_OVER = 2;
const COLUMNS_OVER = 1;
const MARGIN = 44; // px between a column that is scrolled into view and the edge, which fades
const PASSING = ['title', 'aria-label', 'data-mark'];

/**
 * Column: {key, title, name, hint, group, width, most, lines, pinned, numeric, sort, ticks, below, draw(cell, row)}; `name` is what
 * a screen reader says, `most` the width it may grow to, `lines` those of its title, `sort` whether its header sorts, `ticks`
 * the scale below its title, [{x, text}] with x in px from its left.
 */
export class Grid {
  /** `onSort(key)`, `onOpen(row, column)` (Enter, Space or click on a body cell), `onLayout(width)` on each resize. */
  constructor({ label, rowHeight, onSort, onOpen, onLayout }) {
    Object.assign(this, { rowHeight, onSort, onOpen, onLayout });
    Object.assign(this, { columns: [], rows: [], live: [], top: [], spare: [], stuck: 0, asked: 0, active: { row: 0, column: 0 } });
    Object.assign(this, { view: { top: 0, left: 0, width: 0, height: 0 }, range: { first: 0, last: 0, from: 0, to: 0 } });
    this.head = el('div', { class: 'lk-head', role: 'rowgroup' });
    this.body = el('div', { class: 'lk-body', role: 'rowgroup' });
    const edges = el('div', { class: 'lk-edges', 'aria-hidden': 'true' });
    this.node = el('div', { class: 'lk-grid', role: 'grid', 'aria-label': label, tabindex: '-1' }, edges, this.head, this.body);
    this.node.style.setProperty('--lk-row', `${rowHeight}px`);
    this.node.addEventListener('scroll', () => this.scrolled(), { passive: true });
    this.node.addEventListener('keydown', (event) => onKey(this, event));
    this.node.addEventListener('click', (event) => this.clicked(event));
    this.node.addEventListener('focusin', (event) => this.entered(event));
    new ResizeObserver(() => this.resized()).observe(this.node);
  }

  /** Shows other columns, rows or order; what is not given stays. `sort` is {key, down}. The first `stuck` rows stay below the header, as far as they take half of the height. */
  update({ columns = this.columns, rows = this.rows, sort = this.sort, stuck = this.asked }) {
    const before = this.columns[this.active.column]?.key;
    Object.assign(this, { columns, rows, sort, asked: stuck });
    const moved = columns.findIndex(({ key }) => key === before);
    this.active.column = moved >= 0 ? moved : Math.min(this.active.column, columns.length - 1);
    this.active.row = Math.min(this.active.row, rows.length - 1);
    this.grouped = columns.some(({ group }) => group);
    this.head.style.setProperty('--lk-lines', Math.max(...columns.map(({ lines = 1 }) => lines)));
    this.node.setAttribute('aria-rowcount', rows.length + this.headRows());
    this.node.setAttribute('aria-colcount', columns.length);
    this.layout();
    this.paint(true);
  }

  headRows() {
    return this.grouped ? 2 : 1;
  }

  resized() {
    if (this.node.clientWidth === this.view.width && this.node.clientHeight === this.view.height) return;
    this.onLayout?.(this.node.clientWidth);
    this.layout();
    this.paint(true);
  }

  /** Widths: spare room goes to the columns that may grow, in proportion to how much they may. */
  layout() {
    const { clientWidth, clientHeight, scrollTop, scrollLeft } = this.node;
    const total = this.columns.reduce((sum, { width }) => sum + width, 0);
    const grow = this.columns.reduce((sum, { width, most = width }) => sum + most - width, 0);
    const share = grow ? Math.min(1, Math.max(0, clientWidth - total) / grow) : 0;
    this.widths = this.columns.map(({ width, most = width }) => width + (most - width) * share);
    this.pinned = this.columns.findIndex(({ pinned }) => !pinned);
    if (this.pinned < 0) this.pinned = this.columns.length;
    this.starts = [];
    let start = 0;
    this.widths.forEach((width, at) => {
      this.starts[at] = start;
      start += width;
    });
    this.pinnedWidth = this.starts[this.pinned] ?? start;
    this.total = start;
    this.head.style.width = this.body.style.width = `${start}px`;
    this.stuck = Math.min(this.asked, Math.floor(clientHeight / 2 / this.rowHeight));
    this.body.style.height = `${(this.rows.length - this.stuck) * this.rowHeight}px`;
    this.view = { top: scrollTop, left: scrollLeft, width: clientWidth, height: clientHeight };
    this.node.style.setProperty('--lk-pinned', `${this.pinnedWidth}px`);
    this.node.style.setProperty('--lk-height', `${clientHeight}px`);
  }

  /** The width a column has now, in px; 0 for one that is not shown. */
  widthOf(key) {
    return this.widths[this.columns.findIndex((column) => column.key === key)] ?? 0;
  }

  scrolled() {
    this.view.top = this.node.scrollTop;
    this.view.left = this.node.scrollLeft;
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint(false);
    });
  }

  measure() {
    const { top, left, width, height } = this.view;
    const first = this.stuck + Math.max(0, Math.floor(top / this.rowHeight) - ROWS_OVER);
    const last = Math.min(this.rows.length, this.stuck + Math.ceil((top + height) / this.rowHeight) + ROWS_OVER);
    let from = this.pinned;
    while (from < this.columns.length - 1 && this.starts[from + 1] - this.pinnedWidth <= left) from += 1;
    let to = from;
    while (to < this.columns.length && this.starts[to] < left + width) to += 1;
    return {
      first: Math.min(first, last), last,
      from: Math.max(this.pinned, from - COLUMNS_OVER), to: Math.min(this.columns.length, to + COLUMNS_OVER),
    };
  }

  /** Draws what is in view; `all` redraws cells which are drawn already. */
  paint(all) {
    const hadFocus = this.node.contains(this.focused());
    const next = this.measure();
    const before = this.range;
    const sideways = next.from !== before.from || next.to !== before.to;
    this.range = next;
    this.node.classList.toggle('lk-aside', this.view.left > 0);
    this.node.classList.toggle('lk-beyond', this.view.left + this.view.width < this.total - 1);
    if (all || sideways) {
      paintHead(this);
      while (this.top.length > this.stuck) this.drop(this.top.pop());
      while (this.top.length < this.stuck) this.top.push(this.take());
      this.head.append(...this.top.map((row, at) => this.fill(row, at).node));
      for (const row of this.live) {
        if (row.at >= next.first && row.at < next.last) this.fill(row, row.at);
      }
    }
    while (this.live.length && this.live[0].at < next.first) this.drop(this.live.shift());
    while (this.live.length && this.live.at(-1).at >= next.last) this.drop(this.live.pop());
    const top = this.live.length ? this.live[0].at : next.first;
    const bottom = this.live.length ? this.live.at(-1).at + 1 : next.first;
    for (let at = top - 1; at >= next.first; at -= 1) this.live.unshift(this.fill(this.take(), at));
    this.body.prepend(...this.live.slice(0, top - next.first).map(({ node }) => node));
    for (let at = bottom; at < next.last; at += 1) {
      const row = this.fill(this.take(), at);
      this.live.push(row);
      this.body.append(row.node);
    }
    if (hadFocus) this.refocus();
    else this.node.tabIndex = this.element(this.active.row, this.active.column) ? -1 : 0; // or Tab would pass it by
  }

  drop(row) {
    row.node.remove();
    if (this.spare.length < 40) this.spare.push(row);
  }

  take() {
    return this.spare.pop() ?? { node: el('div', { class: 'lk-row', role: 'row' }, el('span', { class: 'lk-gap' })), at: -1, cells: [] };
  }

  /** The column numbers drawn: the pinned ones, then those in view. */
  drawn() {
    const { from, to } = this.range;
    const columns = Array.from({ length: this.pinned }, (_, at) => at);
    for (let at = from; at < to; at += 1) columns.push(at);
    return columns;
  }

  gap() {
    return (this.starts[this.range.from] ?? this.total) - this.pinnedWidth;
  }

  /** Puts a cell at its column; what is already so is left alone, since every write costs the browser a restyle. */
  setPosition(cell, column) {
    const width = `${this.widths[column]}px`;
    const left = column < this.pinned ? `${this.starts[column]}px` : '';
    if (cell.lkWidth !== width) cell.style.width = cell.lkWidth = width;
    if (cell.lkLeft !== left) cell.style.left = cell.lkLeft = left;
    if (cell.lkColumn !== column) cell.setAttribute('aria-colindex', (cell.lkColumn = column) + 1);
  }

  fill(row, at) {
    const { node, cells } = row;
    const drawn = this.drawn();
    const space = node.querySelector(':scope > .lk-gap');
    while (cells.length > drawn.length) cells.pop().remove();
    while (cells.length < drawn.length) cells.push(el('div', { role: 'gridcell' }));
    row.at = at;
    node.setAttribute('aria-rowindex', at + 1 + this.headRows());
    node.style.transform = at < this.stuck ? '' : `translateY(${(at - this.stuck) * this.rowHeight}px)`;
    space.style.width = `${this.gap()}px`;
    if (row.pinned !== this.pinned || cells.length !== row.count) {
      node.replaceChildren(...cells.slice(0, this.pinned), space, ...cells.slice(this.pinned));
      Object.assign(row, { pinned: this.pinned, count: cells.length });
    }
    drawn.forEach((column, index) => {
      const cell = cells[index];
      const { draw, numeric, pinned } = this.columns[column];
      cell.className = `lk-cell${numeric ? ' lk-num' : ''}${pinned ? ' lk-pin' : ''}`;
      for (const name of PASSING) if (cell.hasAttribute(name)) cell.removeAttribute(name);
      draw(cell, this.rows[at]);
      this.setPosition(cell, column);
      const stop = this.isActive(at, column) ? '0' : '-1';
      const focusable = focusTarget(cell);
      if (focusable.getAttribute('tabindex') !== stop) focusable.setAttribute('tabindex', stop);
    });
    return row;
  }

  isActive(row, column) {
    return this.active.row === row && this.active.column === column;
  }

  focused() {
    return this.node.getRootNode().activeElement;
  }

  /** The element which takes the focus for a cell, or null while it is not drawn. */
  element(row, column) {
    const index = this.drawn().indexOf(column);
    if (index < 0) return null;
    if (row < 0) return focusTarget(this.head.querySelectorAll('.lk-titles > [role=columnheader]')[index]);
    const drawn = (row < this.stuck ? this.top : this.live).find(({ at }) => at === row);
    return drawn ? focusTarget(drawn.cells[index]) : null;
  }

  /** Keeps the focus on the active cell when drawing replaced or removed its element. */
  refocus() {
    const element = this.element(this.active.row, this.active.column) ?? this.node;
    this.node.tabIndex = element === this.node ? 0 : -1;
    if (this.focused() === element) return;
    this.refocusing = true;
    element.focus({ preventScroll: true });
    this.refocusing = false;
  }

  /** Makes a cell the active one (row -1: the header), scrolls it into view and, with `focus`, focuses it. */
  activate(row, column, focus = true) {
    const last = this.element(this.active.row, this.active.column);
    if (last) last.tabIndex = -1;
    this.active = { row: Math.max(-1, Math.min(this.rows.length - 1, row)), column: Math.max(0, Math.min(this.columns.length - 1, column)) };
    if (focus) this.reveal();
    const next = this.element(this.active.row, this.active.column);
    if (next) next.tabIndex = 0;
    if (focus) this.refocus();
  }

  reveal() {
    const { row, column } = this.active;
    const { top, height } = this.view;
    const room = height - this.head.offsetHeight;
    const x = this.leftFor(column);
    let y = top;
    const start = (row - this.stuck) * this.rowHeight;
    if (start >= 0) y = Math.max(start + this.rowHeight - room, Math.min(top, start));
    this.scrollTo(x, y);
  }

  /** Scrolls a column into view; the focus stays where it is. */
  showColumn(key) {
    const column = this.columns.findIndex((one) => one.key === key);
    if (column >= 0) this.scrollTo(this.leftFor(column), this.view.top);
  }

  /** Scrolls a row into view, in the middle where it was out of it; the focus stays where it is. */
  showRow(row) {
    if (row < this.stuck) return;
    const room = this.view.height - this.head.offsetHeight;
    const [start, end] = [row, row + 1].map((at) => (at - this.stuck) * this.rowHeight);
    if (start < this.view.top || end > this.view.top + room) this.scrollTo(this.view.left, Math.max(0, (start + end - room) / 2));
  }

  /** Whether a column is in view as a whole. */
  inView(key) {
    const column = this.columns.findIndex((one) => one.key === key);
    return column >= 0 && this.leftFor(column) === this.view.left;
  }

  /** How far the table is to be scrolled for a column to be in view, its nearest edge clear of what fades. */
  leftFor(column) {
    const { left, width } = this.view;
    if (column < this.pinned) return left;
    const [start, end] = [this.starts[column] - this.pinnedWidth, this.starts[column] + this.widths[column] - width];
    if (left >= end && left <= start) return left;
    const margin = Math.min(MARGIN, Math.max(0, start - end));
    return Math.max(0, Math.min(this.total - width, left < end ? end + margin : start - margin));
  }

  scrollTo(x, y) {
    const { top, left } = this.view;
    if (y !== top) this.node.scrollTop = y;
    if (x !== left) this.node.scrollLeft = x;
    this.view.top = this.node.scrollTop;
    this.view.left = this.node.scrollLeft;
    this.paint(false);
  }

  /** Row (-1: header) and column of the cell an event came from, or null. */
  locate(from) {
    const cell = from.closest?.('.lk-cell, .lk-th');
    if (!cell || !this.node.contains(cell)) return null;
    const column = Number(cell.getAttribute('aria-colindex')) - 1;
    const row = Number(cell.parentNode.getAttribute('aria-rowindex')) - 1 - this.headRows();
    return { row: Math.max(-1, row), column };
  }

  entered(event) {
    if (this.refocusing) return;
    const at = this.locate(event.target);
    if (at) this.activate(at.row, at.column, false);
    else if (event.target === this.node && !this.node.contains(event.relatedTarget)) this.activate(this.active.row, this.active.column);
  }

  clicked(event) {
    const at = this.locate(event.target);
    if (!at) return;
    if (at.row < 0) {
      if (this.columns[at.column].sort) this.onSort?.(this.columns[at.column].key);
    } else if (!window.getSelection().toString()) {
      this.activate(at.row, at.column);
      const follows = event.target.closest('a[href]') && !event.defaultPrevented; // a link opens itself
      if (!follows) this.onOpen?.(this.rows[at.row], this.columns[at.column]);
    }
  }
}

/** A cell's own control where it has one (header button, checkbox), else the cell. */
function focusTarget(cell) {
  const child = cell.firstElementChild;
  return child && (child.tagName === 'BUTTON' || child.getAttribute('role') === 'checkbox') ? child : cell;
}

/** Draws the header of the columns in view: a row of groups, where columns have any, above a row of titles. */
function paintHead(grid) {
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
  const { key, title, name = title, hint = '', numeric, pinned, sort, ticks = [], below = '' } = grid.columns[column];
  const classes = `lk-th${numeric ? ' lk-num' : ''}${pinned ? ' lk-pin' : ''}`;
  const cell = el('div', { role: 'columnheader', class: classes, title: hint, 'data-key': key });
  if (sort) {
    const down = grid.sort?.key === key ? grid.sort.down : null;
    cell.setAttribute('aria-sort', down === null ? 'none' : down ? 'descending' : 'ascending');
  }
  const label = name === title ? null : name;
  if (sort) cell.append(el('button', { class: 'lk-sort', 'aria-label': label, type: 'button' },
    el('span', {}, title, below && el('small', { class: 'lk-below' }, below))));
  else {
    if (label) cell.setAttribute('aria-label', label);  // a span without a role must not carry it
    cell.append(el('span', { class: 'lk-sort' }, title));
  }
  if (ticks.length) cell.append(el('span', { class: 'lk-axis', 'aria-hidden': 'true' }, ...ticks.map(({ x, text }) => el('i', { style: `left:${x}px` }, text))));
  grid.setPosition(cell, column);
  focusTarget(cell).tabIndex = grid.isActive(-1, column) ? 0 : -1;
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

/** The keyboard as in the ARIA grid pattern: one stop in the tab order, arrows inside. Other keys, and keys with Alt or Meta, pass through. */
function onKey(grid, event) {
  if (event.altKey || event.metaKey || !grid.columns.length) return;
  const { row, column } = grid.active;
  const last = grid.rows.length - 1;
  const page = Math.max(1, Math.floor((grid.view.height - grid.head.offsetHeight) / grid.rowHeight) - 1);
  const moves = {
    ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
    Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? last : row, grid.columns.length - 1],
    PageUp: [Math.max(0, row - page), column], PageDown: [Math.min(last, row + page), column],
  };
  if (Object.hasOwn(moves, event.key)) {
    event.preventDefault();
    grid.activate(...moves[event.key]);
    // The first column is pinned, so reaching it alone would not bring the start of the table back.
    if (event.key === 'Home') grid.node.scrollLeft = 0;
  } else if ((event.key === 'Enter' || event.key === ' ') && row >= 0 && !event.ctrlKey) {
    event.preventDefault();
    grid.onOpen?.(grid.rows[row], grid.columns[column]);
  }
}
