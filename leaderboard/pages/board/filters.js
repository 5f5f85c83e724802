/** Search, the filter menu, and a chip for every filter in force. */

import { button, el } from '../../js/dom.js';
import { popover } from './popover.js';
import { defaultOrigin, FACETS, facetCounts, facetValues } from './rows.js';
import { ANY_SIZE, createSizes, sizeWords } from './sizes.js';

const CLEAR = { q: '', models: [], pin: [], sizes: ANY_SIZE, ...Object.fromEntries(FACETS.map(({ key }) => [key, []])) };

/** The state without search, filters and pins; of several origins the usual one stays. */
export const withoutFilters = (payload) => ({ ...structuredClone(CLEAR), origin: defaultOrigin(payload) });

/** Filters in force: [{text, patch}], where `patch` takes the filter away again. */
export function chipsOf(state, payload) {
  const chips = [];
  const usual = defaultOrigin(payload);
  if (usual.length && !state.origin.length) chips.push({ text: 'Origin of the scores: all', patch: { origin: usual } });
  const without = (key, value) => {
    const others = state[key].filter((one) => one !== value);
    return key === 'origin' && !others.length ? usual : others;
  };
  for (const { key, title, label } of FACETS) {
    if (key === 'origin' && usual.join() === state.origin.join()) continue;
    for (const value of state[key]) {
      chips.push({ text: `${title}: ${label(value)}`, patch: { [key]: without(key, value) } });
    }
  }
  if (sizeWords(state.sizes)) chips.push({ text: `Parameters: ${sizeWords(state.sizes)}`, patch: { sizes: ANY_SIZE } });
  for (const id of state.pin) {
    const { title } = payload.rows.find((row) => row.id === id);
    chips.push({ text: `Pinned: ${title}`, patch: { pin: state.pin.filter((one) => one !== id) } });
  }
  if (state.models.length) chips.push({ text: `${state.models.length} chosen ${state.models.length === 1 ? 'model' : 'models'}`, patch: { models: [] } });
  return chips;
}

/** The search and the filters in force, as a caption names them. */
export const filtersInWords = (state, payload) => [...(state.q.trim() ? [`“${state.q.trim()}” in the name`] : []), ...chipsOf(state, payload).map(({ text }) => text)];

/** The search box: filters as one types, Esc clears it. */
export function createSearch(board) {
  const input = el('input', { type: 'search', class: 'lk-input lk-search', placeholder: 'Filter models', 'aria-label': 'Search models',
    autocomplete: 'off', spellcheck: 'false', maxlength: 200,
    oninput: () => board.change({ q: input.value }),
    onkeydown: (event) => {
      if (event.key !== 'Escape' || !input.value) return;
      event.preventDefault();
      input.value = '';
      board.change({ q: '' });
    } });

  return {
    nodes: [input],
    refresh() {
      if (input.value !== board.state.q) input.value = board.state.q;
    },
  };
}

/** The Filters button with its panel of facets; counts follow the other filters. */
export function createFilters(board) {
  const menu = popover('Filters', fill, { name: 'Filters', panelClass: 'lk-filters', beside: () => board.main });
  let counters = [];
  let sizes = null;

  const fieldset = (title, ...children) => el('fieldset', { class: 'lk-facet' }, el('legend', {}, title), ...children);

  function facetFields(facet) {
    const { payload, state } = board;
    const values = facetValues(payload, facet).filter((value) => !facet.isSwitch || value === 'yes');
    if (!facet.isSwitch && values.length < 2 && !state[facet.key].length) return null;
    const boxes = [];
    counters.push(() => {
      const counts = facetCounts(board.payload, board.state, facet);
      for (const { box, count, value } of boxes) {
        box.checked = board.state[facet.key].includes(value);
        count.textContent = counts.get(value) ?? 0;
      }
    });
    const rows = values.map((value) => {
      const count = el('span', { class: 'lk-option-note' });
      const box = el('input', { type: 'checkbox', checked: state[facet.key].includes(value), onchange: () => {
        const others = board.state[facet.key].filter((one) => one !== value);
        board.change({ [facet.key]: box.checked ? [...others, value] : others });
      } });
      boxes.push({ box, count, value });
      if (facet.isSwitch) box.setAttribute('role', 'switch');
      return el('label', {}, box, facet.isSwitch ? `${facet.title}: ${facet.label(value)}` : facet.label(value), count);
    });
    return facet.isSwitch ? rows : fieldset(facet.title, ...rows);
  }

  function fill(panel) {
    counters = [];
    sizes = createSizes(board);
    const of = (facets) => facets.flatMap((facet) => facetFields(facet) ?? []);
    panel.append(el('p', { class: 'lk-count' }, 'Filters hide rows; they never change a rank.'), ...of(FACETS.filter(({ isSwitch }) => isSwitch)),
      el('div', { class: 'lk-facets' }, fieldset('Parameters', ...sizes.nodes), ...of(FACETS.filter(({ isSwitch }) => !isSwitch))),
      el('div', { class: 'lk-foot' }, button('Reset filters', () => board.change(withoutFilters(board.payload))), button('Close', menu.close)));
    refreshCounts();
  }

  function refreshCounts() {
    [...counters, sizes.refresh].forEach((update) => update());
  }

  return {
    nodes: [menu.opener, menu.panel],
    close: menu.close,
    refresh() {
      const active = chipsOf(board.state, board.payload).length;
      menu.opener.textContent = active ? `Filters ${active}` : 'Filters';
      menu.opener.classList.toggle('lk-on', active > 0);
      if (menu.panel.childElementCount) refreshCounts();
    },
  };
}

/** The chips of the filters in force, and one Reset for all of them. */
export function createChips(board) {
  const node = el('div', { class: 'lk-chips', role: 'group', 'aria-label': 'Filters in force' });
  let drawn = '';
  return {
    nodes: [node],
    refresh() {
      const chips = chipsOf(board.state, board.payload);
      const key = JSON.stringify(chips.map(({ text }) => text));
      if (key === drawn) return;
      drawn = key;
      node.hidden = !chips.length;
      node.replaceChildren(...chips.map(({ text, patch }) => button(`${text} ×`, () => board.change(patch), {
        class: 'lk-chip', 'aria-label': `Remove the filter ${text}` })));
      if (chips.length) node.append(button('Reset filters', () => board.change(withoutFilters(board.payload)), { class: 'lk-link' }));
    },
  };
}
