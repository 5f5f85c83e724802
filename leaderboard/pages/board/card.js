/** The card of a model: what a chooser asks of it, while the pointer rests on its name or the keyboard is there. */

import { el } from '../../js/dom.js';
import { facts, modelLines } from './cell.js';
import { FRONT, frontWords } from './columns.js';

const REST = 300; // ms that the pointer rests before the card opens
const GRACE = 150; // ms to reach the card
const GAP = 4; // px from the name

/** One card for the board, beside the name whose cell is pointed at or has the keyboard's focus. Esc closes it. */
export function createCard(board) {
  const node = el('div', { class: 'lk-panel lk-card', popover: 'manual', 'aria-hidden': 'true' }); // a cell's own label says what it is of
  const { grid } = board;
  let [shown, timer] = [null, null];

  const within = (target) => target.closest?.('.lk-model') ?? null;
  const later = (wait, then) => {
    clearTimeout(timer);
    timer = setTimeout(then, wait);
  };

  function close() {
    clearTimeout(timer);
    shown = null;
    if (node.matches(':popover-open')) node.hidePopover();
  }

  function open(cell) {
    const at = cell.isConnected && grid.locate(cell);
    if (!at) return;
    const row = board.rows[at.row];
    const model = board.payload.rows[row];
    const front = frontWords(board.ranking, row);
    shown = cell;
    node.replaceChildren(el('h4', {}, model.title), facts(modelLines(model)), front && el('p', { class: 'lk-count' }, `${FRONT.sign} ${front}`),
      board.ranking.place ? el('p', { class: 'lk-count' }, board.ranking.why[row]) : '');
    node.showPopover();
    const box = cell.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const beside = box.right + GAP + node.offsetWidth <= clientWidth;
    const top = beside ? Math.max(0, Math.min(box.top, clientHeight - node.offsetHeight - GAP)) : box.bottom + GAP;
    node.style.left = `${(beside ? box.right + GAP : box.left) + window.scrollX}px`;
    node.style.top = `${top + window.scrollY}px`;
  }

  grid.node.addEventListener('pointerover', ({ target, pointerType }) => {
    const cell = within(target);
    if (pointerType === 'touch' || cell === shown) return clearTimeout(timer);
    return later(cell ? REST : GRACE, () => (cell ? open(cell) : close()));
  });
  grid.node.addEventListener('pointerleave', () => later(GRACE, close));
  node.addEventListener('pointerenter', () => clearTimeout(timer));
  node.addEventListener('pointerleave', () => later(GRACE, close));
  grid.node.addEventListener('focusin', ({ target }) => {
    const cell = within(target);
    if (cell && target.matches(':focus-visible')) open(cell);
    else close();
  });
  for (const type of ['focusout', 'scroll', 'click']) grid.node.addEventListener(type, close);
  grid.node.addEventListener('keydown', ({ key }) => key === 'Escape' && close());
  return { node };
}
