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
 * A lasso, a box or a chosen group of the figure `id` becomes a link: "Show the 12 tasks on the board".
 * The figure's `meta` holds {keys, address, noun, groups: [{name, places}]}; points carry their place as customdata.
 */
export function selection(owner, { id }) {
  const { body } = document;
  const pick = el('select', { class: 'lk-pick', 'aria-label': 'Select a group of points' });
  const link = el('a', { class: 'lk-go', hidden: true });
  const clear = el('button', { type: 'button', class: 'lk-copy', hidden: true }, 'Clear');
  const hint = el('span', { class: 'lk-quiet' });
  owner.replaceChildren(el('label', {}, 'Select: ', pick), link, clear, hint);
  let plot = null;
  let drawn = '';

  function show(places) {
    const { keys, address, noun } = plot.layout.meta;
    const chosen = [...new Set(places)].map((place) => keys[place]).filter(Boolean);
    link.hidden = clear.hidden = !chosen.length;
    hint.hidden = Boolean(chosen.length);
    link.textContent = `Show the ${chosen.length} ${chosen.length === 1 ? noun.slice(0, -1) : noun} on the board`;
    link.href = new URL(address + chosen.map((key) => encodeURIComponent(key).replaceAll('%2F', '/')).join(','), document.baseURI);
    owner.dataset.selected = String(chosen.length);
  }

  function selected(event) {
    if (!event?.points) return;
    pick.value = '';
    show(event.points.map(({ customdata }) => customdata));
  }

  function reset() {
    pick.value = '';
    show([]);
    window.Plotly?.restyle(plot, { selectedpoints: null });
    window.Plotly?.relayout(plot, { selections: [] });
  }

  function picked() {
    const { groups } = plot.layout.meta;
    const group = groups[Number(pick.value)];
    show(pick.value === '' ? [] : group.places);
    const chosen = new Set(pick.value === '' ? [] : group.places);
    window.Plotly?.restyle(plot, {
      selectedpoints: plot.data.map(({ customdata }) => (chosen.size
        ? Array.from(customdata).flatMap((place, at) => (chosen.has(place) ? [at] : [])) : null)),
    });
  }

  pick.addEventListener('change', picked);
  clear.addEventListener('click', reset);
  follow(owner, id, (found) => {
    plot = found;
    const { meta } = plot.layout;
    if (!meta?.keys) return;
    listen(plot, 'plotly_selected', selected);
    plot.dataset.listens = 'selection';
    const now = JSON.stringify(meta);
    if (now === drawn) return;
    drawn = now;
    hint.textContent = body.clientWidth > 600 ? 'Draw around points with the mouse, or choose a group.' : 'Choose a group.';
    pick.replaceChildren(el('option', { value: '' }, 'nothing'),
      ...meta.groups.map(({ name, places }, at) => el('option', { value: at }, `${name} (${places.length})`)));
    show([]);
  });
}
