/** The images behind the points of a task's map. */

import { el } from '../../js/dom.js';
import { attach, listen } from '../../js/figure.js';
import { pictureOf } from './item.js';

const MOST_PICTURES = 24; // of a label, below the figure

/**
 * Shows the images behind the points of the figure `id`: the image under the pointer next to it, those of a chosen label below.
 * The figure's `meta` holds {task, images: [key or ''], labels: [index of its name], names: [...]}; points carry their row as customdata.
 */
export function mount(owner, { id }) {
  const pick = el('select', { class: 'pg-pick' });
  const strip = el('div', { class: 'pg-pictures', role: 'status' });
  owner.replaceChildren(el('label', {}, 'Look at ', pick), strip);
  const card = el('div', { class: 'pg-hover', hidden: true, 'aria-hidden': 'true' });
  let plot = null;
  let drawn = null;
  let shown = -1;

  const image = (row, attributes) => {
    const { task, images, names, labels } = plot.layout.meta;
    if (!images[row]) return el('span', { class: 'pg-nopicture' }, 'no picture stored');
    return el('img', { src: pictureOf(task, images[row]), alt: names[labels[row]], width: 64, height: 64, ...attributes });
  };

  function point({ points: [hit], event }) {
    const row = hit.customdata;
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

  const leave = () => { card.hidden = true; };

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
  attach(owner, id, (figure) => {
    const { meta } = figure.layout;
    if (!meta?.images) return;
    plot = figure;
    if (card.parentElement !== plot) plot.append(card);
    plot.style.position = 'relative';
    listen(plot, 'plotly_hover', point);
    listen(plot, 'plotly_click', point);
    listen(plot, 'plotly_unhover', leave);
    plot.dataset.listens = 'pictures';
    const current = `${meta.task} ${meta.images.length} ${meta.images[0]}`;
    if (current === drawn) return;
    drawn = current;
    shown = -1;
    const count = (label) => meta.labels.filter((one) => one === label).length;
    pick.replaceChildren(el('option', { value: '' }, 'all images'),
      ...meta.names.map((name, at) => el('option', { value: String(at) }, `${name} (${count(at)})`)));
    strip.replaceChildren();
  });
}
