/** The smaller parts around the table: suites, empty and failed states, legend. */

import { MARKS } from './columns.js';
import { button, el } from '../../js/dom.js';

/** The row of suites; pointing at one loads it ahead of the click. */
export function createSuites(board) {
  const list = el('nav', { class: 'lk-suites', 'aria-label': 'Benchmarks' });
  const about = el('p', { class: 'lk-about' });
  const node = el('div', {}, list, about);
  let drawn = '';
  let shown = '';
  return {
    node,
    refresh() {
      const { suites, suite } = board.payload;
      const keys = suites.map(({ key }) => key).join();
      if (drawn !== keys) {
        drawn = keys;
        list.replaceChildren(...suites.map(({ key, title, benchmark_title: benchmark, synthetic }) => {
          const ahead = () => board.source.load(key).catch(() => null);
          const node = button(title, () => board.go(key), { class: 'lk-suite', 'data-key': key, title: benchmark, onpointerenter: ahead, onfocus: ahead });
          if (synthetic) node.append(el('span', { class: 'lk-badge lk-drawn' }, 'synthetic'));
          return node;
        }));
      }
      if (shown === suite.key) return;
      shown = suite.key;
      for (const one of list.children) {
        const current = one.dataset.key === suite.key;
        if (current) one.setAttribute('aria-current', 'true');
        else one.removeAttribute('aria-current');
        if (current && list.scrollWidth > list.clientWidth) list.scrollLeft = one.offsetLeft - list.offsetLeft - 40;
      }
      about.textContent = suite.description;
      about.hidden = !suite.description;
    },
  };
}

/** The message instead of the table while it loads, or when it failed to. */
export function createFailure() {
  const node = el('div', { class: 'lk-state', role: 'status' });
  return {
    node,
    loading() {
      node.hidden = false;
      node.replaceChildren(el('p', { class: 'lk-quiet' }, 'Loading the table…'));
    },
    fail(message, retry) {
      node.hidden = false;
      node.replaceChildren(el('p', {}, `The table did not load. ${message}`), button('Retry', retry));
    },
    clear() {
      node.hidden = true;
      node.replaceChildren();
    },
  };
}

/** The message instead of rows when search and filters leave none. */
export function createEmpty(board) {
  const node = el('div', { class: 'lk-state lk-empty', hidden: true }, el('p', {}, 'No model matches.'), button('Reset', () => board.reset()));
  return {
    nodes: [node],
    refresh() {
      node.hidden = board.rows.length > 0;
    },
  };
}

/** The line below the table: what the marks, the shading and the letters mean. */
export function createLegend(board) {
  const node = el('div', { class: 'lk-legend' });
  let drawn = null;
  const entry = (sign, words) => el('span', {}, el('b', {}, sign), ` ${words}`);
  return {
    nodes: [node],
    refresh() {
      const { payload } = board;
      if (drawn === payload) return;
      drawn = payload;
      const bits = Object.values(payload.marks).reduce((all, one) => all | one, 0);
      const chance = payload.columns.some((column) => column.chance !== null && column.chance !== undefined);
      const missing = payload.cells.some((cells) => cells.includes(null));
      const ties = payload.ranking.tie.some(Boolean);
      node.replaceChildren(
        el('span', { class: 'lk-scale' }, 'worst', el('span', { class: 'lk-strip', role: 'img', 'aria-label': 'shading from worst to best' }), 'best of its column'),
        ...MARKS.filter(([bit]) => bits & bit).map(([, sign, words]) => entry(sign, words)),
        ...(missing ? [entry('—', 'no value, never filled in')] : []),
        ...(chance ? [el('span', {}, el('i', {}, '50.0'), ' at or below chance')] : []),
        ...(ties ? [entry('A', 'tie class: no model in it is significantly worse than its first')] : []),
        ...(payload.ranking.low.some((low) => low !== null) ? [entry('3', '2–5: rank and its 95 % interval')] : []),
        el('span', { class: 'lk-quiet' }, 'A cell opens its sources.'));
    },
  };
}
