/** The bar of the rows selected for comparison, and the way to the comparison below the table. */

import { button, el } from '../../js/dom.js';
import { reveal } from '../../js/reveal.js';
import { PANEL } from './compared.js';
import { originsOf } from './rows.js';

const UNCHANGED = 500; // ms after which a heading that is still the same is that of the same comparison

/** Titles in the order of selection, the first marked as the reference; the origin tells two rows of a model apart. */
export function namesOf(payload, select) {
  const rows = select.map((id) => payload.rows.find((row) => row.id === id)).filter(Boolean);
  return rows.map(({ title, origin }, at) => {
    const twice = originsOf(payload).length > 1 && rows.filter((row) => row.title === title).length > 1;
    const words = [twice ? origin : '', at === 0 && rows.length > 1 ? 'reference' : ''].filter(Boolean).join(', ');
    return words ? `${title} (${words})` : title;
  });
}

/** Brings the comparison into view and focuses its heading, as soon as it is filled. */
export function revealComparison() {
  const began = performance.now();
  const before = document.querySelector(`#${PANEL} h2`);
  reveal(() => {
    const heading = document.querySelector(`#${PANEL} h2`);
    // A new comparison replaces the heading; if the heading has not changed yet, wait.
    const filled = heading && (heading !== before || performance.now() - began > UNCHANGED);
    return filled ? document.getElementById(PANEL) : null;
  }, { focus: (panel) => panel.querySelector('h2') });
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
