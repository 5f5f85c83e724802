/**
 * Fills the places of a page: every `.lk-data` with a sortable table from its `data-source` once it comes into view,
 * every `.lk-items` with the single items of its task, every `.lk-run` with what a run was made with.
 */

import { el, stylesheet } from './dom.js';
import { css } from './colour.js';
import { wire } from './runs.js';
import { mountTable } from './table.js';

const waiting = new WeakSet();
const items = () => import('./items.js');

async function fill(place) {
  const { source, label } = place.dataset;
  try {
    const answer = await fetch(new URL(source, document.baseURI));
    const data = await answer.json();
    if (!place.isConnected) return;
    if (!answer.ok) throw new Error(data.error);
    if (!data.rows.length) {
      place.replaceChildren(el('p', { class: 'pg-quiet' }, data.empty ?? 'There is nothing to list here.'));
    } else {
      const root = el('div');
      place.replaceChildren(root);
      mountTable(root, data);
    }
    place.dataset.ready = String(data.rows.length);
  } catch (error) {
    const retry = el('button', { type: 'button', class: 'pg-copy', onclick: () => fill(place) }, 'Try again');
    const reason = error instanceof SyntaxError || error instanceof TypeError ? 'The server did not answer.' : error.message;
    place.replaceChildren(el('p', { class: 'pg-quiet' }, `${label} could not be loaded. ${reason} `, retry));
    place.dataset.ready = 'error';
  }
}

/** Watches `root` (a page) for places to fill; places that Gradio draws anew are found again. */
export function watch(root = document.body) {
  stylesheet(css());
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      fill(target);
    }
  }, { rootMargin: '200px' });
  const scan = () => {
    for (const place of root.querySelectorAll('.lk-items:not([data-mounted])')) items().then((module) => module.mount(place));
    for (const place of root.querySelectorAll('.lk-run')) wire(place);
    for (const place of root.querySelectorAll('.lk-data')) {
      if (waiting.has(place)) continue;
      waiting.add(place);
      seen.observe(place);
    }
  };
  // Typing into a list replaces the chosen name instead of adding to it.
  root.addEventListener('click', ({ target }) => {
    if (target.matches('.pg-controls input[role=combobox]') && target.selectionStart === target.selectionEnd) target.select();
  });
  new MutationObserver(scan).observe(root, { childList: true, subtree: true });
  scan();
}
