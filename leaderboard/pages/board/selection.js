/** The bar of the rows selected for comparison, and the way to the comparison below the table. */

import { button, el } from '../../js/dom.js';
import { PANEL } from './compared.js';
import { originsOf } from './rows.js';

const PATIENCE = 4000; // ms in which the page may still move
const INTERRUPTS = ['wheel', 'touchstart', 'keydown', 'pointerdown'];

/** Titles in the order of selection, the first marked as the reference; the origin tells two rows of a model apart. */
export function namesOf(payload, select) {
  const rows = select.map((id) => payload.rows.find((row) => row.id === id)).filter(Boolean);
  return rows.map(({ title, origin }, at) => {
    const twice = originsOf(payload).length > 1 && rows.filter((row) => row.title === title).length > 1;
    const words = [twice ? origin : '', at === 0 && rows.length > 1 ? 'reference' : ''].filter(Boolean).join(', ');
    return words ? `${title} (${words})` : title;
  });
}

/** Scrolls to the comparison and focuses its heading as soon as it is filled; not if the visitor scrolls meanwhile. */
export function revealComparison() {
  const began = performance.now();
  const before = document.querySelector(`#${PANEL} h2`);
  let reached = false;
  let frame = 0;
  const move = () => {
    frame = 0;
    const heading = document.querySelector(`#${PANEL} h2`);
    // A new comparison replaces the heading; if the heading has not changed yet, wait.
    if (!heading || (heading === before && performance.now() - began < 500)) return;
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches || reached;
    if (!reached) heading.focus({ preventScroll: true });
    reached = true;
    document.getElementById(PANEL).scrollIntoView({ block: 'start', behavior: calm ? 'auto' : 'smooth' });
  };
  const soon = () => {
    frame ||= requestAnimationFrame(move);
  };
  const watcher = new MutationObserver(soon);
  const timers = [setTimeout(soon, 600), setTimeout(stop, PATIENCE)];
  function stop() {
    watcher.disconnect();
    timers.forEach(clearTimeout);
    INTERRUPTS.forEach((name) => removeEventListener(name, stop));
  }
  watcher.observe(document.body, { childList: true, subtree: true });
  INTERRUPTS.forEach((name) => addEventListener(name, stop, { passive: true }));
}

/** The bar itself: it floats, and steps aside while the comparison is in view. */
export function createSelection(board) {
  const names = el('span', { class: 'lk-names' });
  const compare = button('Compare', () => board.compare(), { class: 'lk-button lk-primary' });
  const only = button('Show only these', () => board.change({
    models: board.payload.rows.filter(({ id }) => board.state.select.includes(id)).map(({ model }) => model) }));
  const node = el('div', { class: 'lk-selection', role: 'region', 'aria-label': 'Selected rows', hidden: true }, names, compare, only,
    button('Clear', () => board.choose([]), { class: 'lk-link' }));

  function toggle() {
    if (!board.state) return;
    const box = board.state.compare && document.getElementById(PANEL)?.getBoundingClientRect();
    const aside = box && box.height > 0 && box.top < innerHeight - 70 && box.bottom > 0;
    node.hidden = !board.state.select.length || Boolean(aside);
  }

  const sizes = new ResizeObserver(toggle);
  function onScroll() {
    if (node.isConnected) toggle();
    else {
      removeEventListener('scroll', onScroll, true);
      sizes.disconnect();
    }
  }
  addEventListener('scroll', onScroll, { capture: true, passive: true });
  sizes.observe(document.body);

  return {
    nodes: [node],
    refresh() {
      const { payload, state: { select } } = board;
      const titles = namesOf(payload, select);
      names.textContent = select.length === 1 ? `${titles[0]}: select one more to compare` : titles.join(', ');
      names.title = names.textContent;
      compare.disabled = select.length < 2;
      compare.textContent = select.length < 2 ? 'Compare' : `Compare ${select.length}`;
      toggle();
    },
  };
}
