/** The range of parameter counts shown: in the address, over the rows, and the slider with two ends that sets it. */

import { el } from '../../js/dom.js';
import { parametersText } from '../../js/number.js';

export const SIZE_KEYS = ['min_parameters', 'max_parameters', 'size']; // in the address, as the endpoints name them: two counts, and `unknown`
export const ANY_SIZE = { min: null, max: null, unknown: false }; // in millions; `unknown`: models whose size is not stated, too
const MILLION = 1e6;
const STEPS = [1, 1.5, 2, 3, 5, 7]; // of each power of ten

/** The range that a query string names; `drop(key, value)` gets what is not a size. */
export function readSizes(query, drop) {
  const number = (key) => {
    const text = query.get(key) ?? '';
    const value = Number(text);
    if (text && !(value >= 0 && value < Infinity)) drop(key, text);
    return text && value >= 0 && value < Infinity ? value / MILLION : null;
  };
  const size = query.get('size') ?? '';
  if (size && size !== 'unknown') drop('size', size);
  return { min: number('min_parameters'), max: number('max_parameters'), unknown: size === 'unknown' };
}

/** The parameters of a query string for a range: [key, text], '' where nothing is chosen. */
export const writeSizes = ({ min, max, unknown }) => [['min_parameters', min === null ? '' : String(Math.round(min * MILLION))], ['max_parameters', max === null ? '' : String(Math.round(max * MILLION))], ['size', unknown ? 'unknown' : '']];

const isRange = ({ min, max }) => min !== null || max !== null;

/** Whether a row passes. */
export function hasSize({ min, max, unknown }, { parameters }) {
  if (parameters === null) return unknown || !isRange({ min, max });
  return isRange({ min, max }) ? parameters >= (min ?? 0) && parameters <= (max ?? Infinity) : !unknown;
}

/** The range in words, '' for all. */
export function sizeWords({ min, max, unknown }) {
  const range = min === null ? `at most ${parametersText(max)}` : max === null ? `at least ${parametersText(min)}` : `${parametersText(min)} to ${parametersText(max)}`;
  return [isRange({ min, max }) ? range : '', unknown ? 'not stated' : ''].filter(Boolean).join(' or ');
}

/** The sizes at which the slider stops, from the smallest model to the largest, in millions; [] where fewer than two are stated. */
export function stopsOf(rows) {
  const known = rows.map(({ parameters }) => parameters).filter((size) => size > 0);
  if (new Set(known).size < 2) return [];
  const powers = [Math.min(...known), Math.max(...known)].map((size) => Math.floor(Math.log10(size)));
  const stops = [];
  for (let power = powers[0]; power <= powers[1] + 1; power += 1) stops.push(...STEPS.map((step) => Math.round(step * 10 ** (power + 6)) / 1e6));
  const first = stops.findLastIndex((stop) => stop <= Math.min(...known));
  return stops.slice(first, stops.findIndex((stop) => stop >= Math.max(...known)) + 1);
}

/** The slider: `nodes`, and `refresh()`, which follows the state. */
export function createSizes(board) {
  const stops = stopsOf(board.payload.rows);
  const last = stops.length - 1;
  const words = el('output', { class: 'lk-option-note' });
  const nearest = (size) => stops.reduce((best, stop, at) => (Math.abs(Math.log(stop / size)) < Math.abs(Math.log(stops[best] / size)) ? at : best), 0);
  const change = (patch) => board.change({ sizes: { ...board.state.sizes, ...patch } });
  const low = end('Smallest number of parameters', () => Math.min(Number(low.value), Number(high.value)), (at) => ({ min: at ? stops[at] : null }));
  const high = end('Largest number of parameters', () => Math.max(Number(low.value), Number(high.value)), (at) => ({ max: at < last ? stops[at] : null }));
  const unknown = el('input', { type: 'checkbox', onchange: () => change({ unknown: unknown.checked }) });
  const ends = el('div', { class: 'lk-ends' }, low, high);

  function end(name, at, patch) {
    return el('input', { type: 'range', class: 'lk-range', min: 0, max: last, step: 1, 'aria-label': name, oninput: () => change(patch(at())) });
  }

  return {
    nodes: [...(stops.length ? [words, ends] : []), el('label', {}, unknown, 'Size not stated')],
    refresh() {
      const { sizes } = board.state;
      words.textContent = sizeWords(sizes) || 'any size';
      low.value = sizes.min === null ? 0 : nearest(sizes.min || stops[0]);
      high.value = sizes.max === null ? last : nearest(sizes.max || stops[0]);
      for (const [input, size, otherwise] of [[low, sizes.min, stops[0]], [high, sizes.max, stops[last]]]) input.setAttribute('aria-valuetext', parametersText(size ?? otherwise ?? null));
      ends.style.setProperty('--from', `${100 * low.value / last}%`);
      ends.style.setProperty('--to', `${100 * high.value / last}%`);
      low.style.zIndex = low.value === high.value && Number(low.value) === last ? 1 : 0; // or it could not be taken hold of
      unknown.checked = sizes.unknown;
    },
  };
}
