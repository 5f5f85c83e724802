/** The keyboard of a grid, as in the ARIA grid pattern: one stop in the tab order, arrows inside. */

/** Moves or opens on a key pressed inside `grid`; other keys and keys with Alt or Meta pass through. */
export function onKey(grid, event) {
  if (event.altKey || event.metaKey || !grid.columns.length) return;
  const { row, column } = grid.active;
  const last = grid.rows.length - 1;
  const page = Math.max(1, Math.floor((grid.view.height - grid.head.offsetHeight) / grid.rowHeight) - 1);
  const moves = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    Home: [event.ctrlKey ? 0 : row, 0],
    End: [event.ctrlKey ? last : row, grid.columns.length - 1],
    PageUp: [Math.max(0, row - page), column],
    PageDown: [Math.min(last, row + page), column],
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
