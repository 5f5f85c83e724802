/** Clicks and selections on a figure that Gradio draws: it may be drawn anew at any time, so it is found again. */

import { el } from './dom.js';

/** Calls `attach(plot)` for the plotly figure inside the element `id`, and again whenever it was drawn anew. */
function follow(owner, id, attach) {
  let waiting = 0;
  const look = () => {
    waiting = 0;
    if (!owner.isConnected) {
      watcher.disconnect();
      return;
    }
    const plot = document.getElementById(id)?.querySelector('.js-plotly-plot');
    if (plot?.on && plot.data) attach(plot);
  };
  const soon = () => {
    waiting ||= requestAnimationFrame(look);
  };
  const watcher = new MutationObserver(soon);
  const place = document.getElementById(id);
  watcher.observe(place?.parentElement ?? document.body, { childList: true, subtree: true });
  soon();
}

/** Listens once, whatever was there before under the same function. */
function listen(plot, name, run) {
  plot.removeListener?.(name, run);
  plot.on(name, run);
}

/** A click on a cell of the figure `id` calls `open` with a select event of two of the figure's `meta.keys`: `x,y`. */
export function pairs(owner, { id, open }) {
  let plot = null;
  const clicked = ({ points: [point] }) => {
    const { keys } = plot.layout.meta ?? {};
    const at = point.pointIndex ?? point.pointNumber;
    const [row, column] = Array.isArray(at) ? at : [point.y, point.x];
    const place = (value) => (typeof value === 'number' ? value : plot.data[0].x.indexOf(value));
    const [x, y] = [keys?.[place(column)], keys?.[place(row)]];
    if (x && y && x !== y) open({ index: 0, value: `${x},${y}`, selected: true });
  };
  follow(owner, id, (found) => {
    plot = found;
    plot.dataset.listens = 'pair';
    listen(plot, 'plotly_click', clicked);
  });
}

/**
 * A lasso, a box or a chosen group of the figure `id` becomes a link a suite: "Show 12 tasks on the board of MIEB".
 * The figure's `meta` holds {keys, noun, parts: [{title, address, places}], groups: [{name, places}]}; points carry
 * their place among the keys as customdata.
 */
export function selection(owner, { id }) {
  const pick = el('select', { class: 'pg-pick' });
  const links = el('span', { class: 'pg-links', role: 'status' });
  const clear = el('button', { type: 'button', class: 'pg-copy', hidden: true, onclick: () => choose([]) },
    'Clear selection');
  owner.replaceChildren(el('label', {}, 'Select ', pick), links, clear);
  let plot = null;
  let drawn = null;
  let settling = false; // while our own marks are drawn, which plotly reports as a selection

  function show(places) {
    const { keys, noun, parts } = plot.layout.meta;
    const chosen = new Set(places);
    clear.hidden = !chosen.size;
    owner.dataset.selected = String(chosen.size);
    const found = parts.map(({ title, address, places: own }) => {
      const there = own.filter((place) => chosen.has(place));
      if (!there.length) return null;
      const list = there.map((place) => encodeURIComponent(keys[place]).replaceAll('%2F', '/')).join(',');
      const words = `Show ${there.length} ${there.length === 1 ? noun.slice(0, -1) : noun} on the board of ${title}`;
      return el('a', { class: 'pg-go', href: new URL(address + list, document.baseURI).href }, words);
    });
    const hint = chosen.size ? null : el('span', { class: 'pg-quiet' }, 'or draw around points with the mouse');
    links.replaceChildren(...[...found, hint].filter(Boolean));
  }

  /** Marks places on the figure as chosen, all points when there are none. */
  function choose(places) {
    const chosen = new Set(places);
    if (!chosen.size) pick.value = '';
    show(places);
    const marks = plot.data.map(({ customdata }) => (chosen.size
      ? Array.from(customdata ?? []).flatMap((place, at) => (chosen.has(place) ? [at] : [])) : null));
    settling = true;
    Promise.resolve(window.Plotly?.update(plot, { selectedpoints: marks }, { selections: [] })).finally(() => {
      settling = false;
    });
  }

  function selected(event) {
    if (settling || !event?.points) return;
    pick.value = '';
    show(event.points.map(({ customdata }) => customdata));
  }

  pick.addEventListener('change', () => choose(plot.layout.meta.groups[Number(pick.value)]?.places ?? []));
  follow(owner, id, (found) => {
    const { meta } = found.layout;
    if (!meta?.groups) return;
    plot = found;
    listen(plot, 'plotly_selected', selected);
    plot.dataset.listens = 'selection';
    const now = JSON.stringify(meta);
    if (now === drawn) return;
    drawn = now;
    pick.replaceChildren(el('option', { value: '' }, `no group of ${meta.noun}`),
      ...meta.groups.map(({ name, places }, at) => el('option', { value: String(at) }, `${name} (${places.length})`)));
    show([]);
  });
}
