/** Clicks and selections on a figure that Gradio draws: it may be drawn anew at any time, so it is found again. */

import { el } from './dom.js';
import { pictureOf } from './item.js';

const MOST_PICTURES = 24; // of a label, below the figure

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

/**
 * Shows the images behind the points of the figure `id`: the one pointed at beside it, those of a chosen label below.
 * The figure's `meta` holds {task, images: [key or ''], labels: [place], names: [...]}; points carry their row as customdata.
 */
export function pictures(owner, { id }) {
  const pick = el('select', { class: 'pg-pick' });
  const strip = el('div', { class: 'pg-pictures', role: 'status' });
  owner.replaceChildren(el('label', {}, 'Look at ', pick), strip);
  const card = el('div', { class: 'pg-hover', hidden: true, 'aria-hidden': 'true' });
  let plot = null;
  let drawn = null;
  let shown = -1;

  const image = (row, attributes) => {
    const { task, images, names, labels } = plot.layout.meta;
    if (!images[row]) return el('span', { class: 'pg-nopicture' }, 'no picture kept');
    return el('img', { src: pictureOf(task, images[row]), alt: names[labels[row]], width: 64, height: 64, ...attributes });
  };

  function point({ points: [one], event }) {
    const row = one.customdata;
    if (row !== shown) {
      shown = row;
      card.replaceChildren(image(row), el('span', {}, plot.layout.meta.names[plot.layout.meta.labels[row]]));
    }
    card.hidden = false;
    const box = plot.getBoundingClientRect();
    const [x, y] = [(event?.clientX ?? box.left) - box.left, (event?.clientY ?? box.top) - box.top];
    const left = x + 14 + card.offsetWidth > box.width ? x - 14 - card.offsetWidth : x + 14;
    card.style.left = `${Math.max(0, left)}px`;
    card.style.top = `${Math.max(0, Math.min(y - card.offsetHeight / 2, box.height - card.offsetHeight))}px`;
  }

  const leave = () => {
    card.hidden = true;
  };

  function choose() {
    const { labels } = plot.layout.meta;
    const label = pick.value === '' ? -1 : Number(pick.value);
    const chosen = new Set(labels.flatMap((one, row) => (one === label ? [row] : [])));
    const rows = [...chosen].slice(0, MOST_PICTURES);
    const more = chosen.size - rows.length;
    strip.replaceChildren(...rows.map((row) => image(row, { loading: 'lazy' })), ...(more > 0 ? [el('span', { class: 'pg-quiet' }, `and ${more} more`)] : []));
    const marks = plot.data.map(({ customdata }) => (label < 0 ? null : Array.from(customdata ?? []).flatMap((row, at) => (chosen.has(row) ? [at] : []))));
    window.Plotly?.restyle(plot, { selectedpoints: marks });
  }

  pick.addEventListener('change', choose);
  follow(owner, id, (found) => {
    const { meta } = found.layout;
    if (!meta?.images) return;
    plot = found;
    if (card.parentElement !== plot) plot.append(card);
    plot.style.position = 'relative';
    listen(plot, 'plotly_hover', point);
    listen(plot, 'plotly_click', point);
    listen(plot, 'plotly_unhover', leave);
    plot.dataset.listens = 'pictures';
    const now = `${meta.task} ${meta.images.length} ${meta.images[0]}`;
    if (now === drawn) return;
    drawn = now;
    shown = -1;
    const count = (label) => meta.labels.filter((one) => one === label).length;
    pick.replaceChildren(el('option', { value: '' }, 'all images'),
      ...meta.names.map((name, at) => el('option', { value: String(at) }, `${name} (${count(at)})`)));
    strip.replaceChildren();
  });
}
