/** A point of the map shows its nearest in the data; a selection becomes links to the board. */

import { encodedKey, withValues } from '../../js/address.js';
import { el, writeQuery } from '../../js/dom.js';
import { attach, listen } from '../../js/figure.js';
import { suggestion } from '../../js/nearest.js';
import { rounded } from '../../js/number.js';
import { show as showNode } from '../../js/reveal.js';

const MOST_FOUND = 200; // names offered while one is typed

/**
 * The figure's `meta` holds {keys, names, noun, near, parts: [{title, address, places}], groups: [{name, places}]};
 * `near` has a list of [index, distance, rank correlation or null] a point. Points carry their index among the keys as
 * customdata. A lasso, a box or a chosen group becomes a link a suite: "Show 12 tasks on the board of MIEB".
 */
export function mount(owner, { id }) {
  const field = el('input', { class: 'pg-pick', type: 'search', autocomplete: 'off', maxlength: '100' });
  const names = el('datalist', { id: `${id}-names` });
  field.setAttribute('list', names.id);
  const pick = el('select', { class: 'pg-pick' });
  const links = el('span', { class: 'pg-links', role: 'status' });
  const clear = el('button', { type: 'button', class: 'pg-copy', hidden: true, onclick: () => choose([]) },
    'Clear selection');
  const panel = el('div', { class: 'pg-near', 'aria-live': 'polite' });
  const label = el('span', {});
  owner.replaceChildren(el('label', {}, label, field), names, el('label', {}, 'Select ', pick), links, clear);
  let plot = null;
  let drawn = null;
  let settling = false; // while our own selection is drawn, which plotly reports too

  const page = (index) => {
    const { keys, names: titles, noun } = plot.layout.meta;
    const one = noun.slice(0, -1);
    const address = `${one}?${one}=${encodedKey(keys[index])}`;
    return el('a', { href: new URL(address, document.baseURI).href }, titles[index]);
  };

  function show(indices) {
    const { keys, noun, parts } = plot.layout.meta;
    const chosen = new Set(indices);
    clear.hidden = !chosen.size;
    owner.dataset.selected = String(chosen.size);
    const suites = parts.map(({ title, address, places }) => {
      const selected = places.filter((index) => chosen.has(index));
      if (!selected.length) return null;
      const list = selected.map((index) => encodedKey(keys[index])).join(',');
      const text = `Show ${selected.length} ${selected.length === 1 ? noun.slice(0, -1) : noun} on the board of ${title}`;
      return el('a', { class: 'pg-go', href: new URL(address + list, document.baseURI).href }, text);
    });
    const hint = chosen.size ? null : el('span', { class: 'pg-quiet' }, 'or draw around points with the mouse');
    links.replaceChildren(...[...suites, hint].filter(Boolean));
  }

  /** Writes the picked point to the address, or takes it away. */
  const remember = (point) => writeQuery(withValues(location.search, { point }));

  /** Selects the points with these indices, or all points when there are none. */
  function choose(indices) {
    const chosen = new Set(indices);
    if (!chosen.size) pick.value = '';
    field.value = '';
    panel.replaceChildren();
    remember('');
    show(indices);
    mark(chosen);
  }

  function mark(chosen) {
    const marks = plot.data.map(({ customdata }) => (chosen.size
      ? Array.from(customdata ?? []).flatMap((index, at) => (chosen.has(index) ? [at] : [])) : null));
    settling = true;
    Promise.resolve(window.Plotly?.update(plot, { selectedpoints: marks }, { selections: [] })).finally(() => { settling = false; });
  }

  /** Shows one point with its nearest others in the data, marked on the map. */
  function open(index) {
    const { keys, names: titles, near, noun } = plot.layout.meta;
    const ranks = near[index].some(([, , r]) => r !== null);
    const head = [`Nearest ${noun} in the data`, 'Distance', ...(ranks ? ['Rank correlation'] : [])];
    const rows = near[index].map(([other, distance, r]) => el('tr', {}, el('th', { scope: 'row' }, page(other)),
      el('td', { class: 'pg-num' }, rounded(distance, 2)),
      ...(ranks ? [el('td', { class: 'pg-num' }, r === null ? 'unknown' : rounded(r, 2))] : [])));
    pick.value = '';
    field.value = titles[index];
    panel.replaceChildren(el('h2', {}, page(index)), near[index].length ? el('table', { class: 'pg-table' },
      el('thead', {}, el('tr', {}, ...head.map((text, at) => el('th', { scope: 'col', class: at ? 'pg-num' : '' }, text)))),
      el('tbody', {}, ...rows)) : el('p', {}, `It shares too little with the other ${noun} for a distance.`),
    el('p', { class: 'pg-quiet' }, noun === 'tasks'
      ? 'Distance: the root mean square difference of two tasks\u2019 correlations with all tasks.'
      : 'Distance: the root mean square difference of standardised scores over the tasks both models have.'));
    remember(keys[index]);
    const chosen = [index, ...near[index].map(([other]) => other)];
    show(chosen);
    mark(new Set(chosen));
  }

  function onSelected(event) {
    if (settling || !event?.points) return;
    pick.value = '';
    field.value = '';
    panel.replaceChildren();
    remember('');
    show(event.points.map(({ customdata }) => customdata));
  }

  /** Shows a point that the visitor chose; what they did brings it into view. */
  function openInView(index) {
    open(index);
    showNode(panel);
  }

  const onClick = ({ points: [point] }) => typeof point?.customdata === 'number' && openInView(point.customdata);

  function onFind() {
    const text = field.value.trim().toLowerCase();
    if (!text) return;
    const { keys, names: titles } = plot.layout.meta;
    const known = titles.map((title) => title.toLowerCase());
    const found = [known.indexOf(text), keys.indexOf(text), known.findIndex((title) => title.includes(text))];
    const index = found.find((at) => at >= 0);
    if (index !== undefined) openInView(index);
    else panel.replaceChildren(el('p', {}, `Nothing on this map is called \u201c${field.value.trim()}\u201d.${suggestion(text, titles)}`));
  }

  pick.addEventListener('change', () => choose(plot.layout.meta.groups[Number(pick.value)]?.places ?? []));
  field.addEventListener('change', onFind);
  attach(owner, id, (figure) => {
    const { meta } = figure.layout;
    if (!meta?.groups) return;
    plot = figure;
    if (!panel.isConnected) document.getElementById(id).after(panel);
    listen(plot, 'plotly_selected', onSelected);
    listen(plot, 'plotly_click', onClick);
    plot.dataset.listens = 'selection';
    const current = JSON.stringify(meta);
    if (current === drawn) return;
    drawn = current;
    label.textContent = `Find a ${meta.noun.slice(0, -1)} `;
    names.replaceChildren(...meta.names.slice(0, MOST_FOUND).map((name) => el('option', { value: name })));
    pick.replaceChildren(el('option', { value: '' }, `no group of ${meta.noun}`),
      ...meta.groups.map(({ name, places }, at) => el('option', { value: String(at) }, `${name} (${places.length})`)));
    panel.replaceChildren();
    field.value = '';
    const asked = meta.keys.indexOf(new URLSearchParams(window.location.search).get('point') ?? '');
    if (asked >= 0) open(asked);
    else show([]);
  });
}
