/** A selection on the map becomes links to the board. */

import { el } from '../../js/dom.js';
import { attach, listen } from '../../js/figure.js';

/**
 * A lasso, a box or a chosen group of the figure `id` becomes a link a suite: "Show 12 tasks on the board of MIEB".
 * The figure's `meta` holds {keys, noun, parts: [{title, address, places}], groups: [{name, places}]}; points carry
 * their index among the keys as customdata.
 */
export function mount(owner, { id }) {
  const pick = el('select', { class: 'pg-pick' });
  const links = el('span', { class: 'pg-links', role: 'status' });
  const clear = el('button', { type: 'button', class: 'pg-copy', hidden: true, onclick: () => choose([]) },
    'Clear selection');
  owner.replaceChildren(el('label', {}, 'Select ', pick), links, clear);
  let plot = null;
  let drawn = null;
  let settling = false; // while our own selection is drawn, which plotly reports too

  function show(indices) {
    const { keys, noun, parts } = plot.layout.meta;
    const chosen = new Set(indices);
    clear.hidden = !chosen.size;
    owner.dataset.selected = String(chosen.size);
    const suites = parts.map(({ title, address, places }) => {
      const selected = places.filter((index) => chosen.has(index));
      if (!selected.length) return null;
      const list = selected.map((index) => encodeURIComponent(keys[index]).replaceAll('%2F', '/')).join(',');
      const label = `Show ${selected.length} ${selected.length === 1 ? noun.slice(0, -1) : noun} on the board of ${title}`;
      return el('a', { class: 'pg-go', href: new URL(address + list, document.baseURI).href }, label);
    });
    const hint = chosen.size ? null : el('span', { class: 'pg-quiet' }, 'or draw around points with the mouse');
    links.replaceChildren(...[...suites, hint].filter(Boolean));
  }

  /** Selects the points with these indices, or all points when there are none. */
  function choose(indices) {
    const chosen = new Set(indices);
    if (!chosen.size) pick.value = '';
    show(indices);
    const marks = plot.data.map(({ customdata }) => (chosen.size
      ? Array.from(customdata ?? []).flatMap((index, at) => (chosen.has(index) ? [at] : [])) : null));
    settling = true;
    Promise.resolve(window.Plotly?.update(plot, { selectedpoints: marks }, { selections: [] })).finally(() => {
      settling = false;
    });
  }

  function onSelected(event) {
    if (settling || !event?.points) return;
    pick.value = '';
    show(event.points.map(({ customdata }) => customdata));
  }

  pick.addEventListener('change', () => choose(plot.layout.meta.groups[Number(pick.value)]?.places ?? []));
  attach(owner, id, (figure) => {
    const { meta } = figure.layout;
    if (!meta?.groups) return;
    plot = figure;
    listen(plot, 'plotly_selected', onSelected);
    plot.dataset.listens = 'selection';
    const current = JSON.stringify(meta);
    if (current === drawn) return;
    drawn = current;
    pick.replaceChildren(el('option', { value: '' }, `no group of ${meta.noun}`),
      ...meta.groups.map(({ name, places }, at) => el('option', { value: String(at) }, `${name} (${places.length})`)));
    show([]);
  });
}
