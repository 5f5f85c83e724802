/** The smaller parts around the table: suites, empty and failed states, legend. */

import { DOUBTFUL, FRONT, MARKS } from './columns.js';
import { button, el } from '../../js/dom.js';
import { differingRanks } from './rows.js';

/** The row of suites; pointing at one loads it ahead of the click. */
export function createSuites(board) {
  const list = el('nav', { class: 'lk-suites', 'aria-label': 'Benchmarks', onscroll: fade });
  new ResizeObserver(fade).observe(list);
  function fade() {
    list.classList.toggle('lk-before', list.scrollLeft > 1);
    list.classList.toggle('lk-after', list.scrollLeft + list.clientWidth < list.scrollWidth - 1);
  }
  const about = el('p', { class: 'lk-about' });
  const node = el('div', {}, list, about);
  let drawn = '';
  let shown = '';
  return {
    node,
    refresh() {
      const { suites, suite } = board.payload;
      // It says how the suite makes its mean, which is not true of another mean.
      about.hidden = !suite.description || Boolean(board.ranking.changed);
      const keys = suites.map(({ key }) => key).join();
      if (drawn !== keys) {
        drawn = keys;
        const firstOwn = suites.findIndex(({ own }) => own);
        list.replaceChildren(...suites.flatMap(({ key, title, benchmark_title: benchmark, synthetic }, at) => {
          const ahead = () => board.source.load(key).catch(() => null);
          const node = button(title, () => board.go(key), { class: 'lk-suite', 'data-key': key, title: benchmark, onpointerenter: ahead, onfocus: ahead });
          if (synthetic) node.append(el('span', { class: 'lk-badge lk-drawn' }, 'synthetic'));
          return at === firstOwn ? [el('span', { class: 'lk-own' }, 'Your own data'), node] : [node];
        }));
        fade();
      }
      about.textContent = suite.description;
      if (shown === suite.key) return;
      shown = suite.key;
      for (const one of list.children) {
        const current = one.dataset.key === suite.key;
        if (current) one.setAttribute('aria-current', 'true');
        else one.removeAttribute('aria-current');
        if (current && list.scrollWidth > list.clientWidth) list.scrollLeft = one.offsetLeft - list.offsetLeft - 40;
      }
    },
  };
}

/** The line above a table whose mean is not the suite's own: what was changed, how many ranks differ, and the way back. */
export function createChanged(board) {
  const words = el('span', { role: 'status' });
  const node = el('p', { class: 'lk-changed', hidden: true }, words,
    button('Reset', () => board.resetRule(), { class: 'lk-link', 'aria-label': 'Reset to the suite’s own mean' }));
  return {
    nodes: [node],
    refresh() {
      const { payload, ranking, state } = board;
      node.hidden = !ranking.changed;
      const { differ, of } = ranking.changed ? differingRanks(payload, ranking, state) : {};
      words.textContent = ranking.changed ? `Your mean: ${ranking.changed} · ${differ} of ${of} ranks differ · ` : '';
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
  const best = el('span');
  let drawn = null;
  const entry = (sign, words) => el('span', {}, el('b', {}, sign), ` ${words}`);
  return {
    nodes: [node],
    refresh() {
      const { payload, ranking } = board;
      best.textContent = board.scaleRows.length < payload.rows.length ? `best of its column among ${board.scaleRows.length} rows` : 'best of its column';
      if (drawn === ranking) return;
      drawn = ranking;
      const bits = [...Object.values(payload.marks), ...(ranking.family_marks ?? []).flat()].reduce((all, one) => all | one, 0);
      const chance = payload.columns.some((column) => column.chance !== null && column.chance !== undefined);
      const missing = payload.cells.some((cells) => cells.includes(null));
      const ties = ranking.tie.some(Boolean);
      const sure = ranking.low.some((low) => low !== null);
      const unknown = [...new Set(ranking.unknown.filter((reason, row) => reason && ranking.low[row] === null))];
      node.replaceChildren(
        el('span', { class: 'lk-scale' }, 'worst', el('span', { class: 'lk-strip', role: 'img', 'aria-label': 'shading from worst to best' }), best),
        ...MARKS.filter(([bit]) => bits & bit).map(([bit, sign, words]) => entry(sign, bit === DOUBTFUL ? `${words}; never the best of its column` : words)),
        ...(missing ? [entry('—', 'no value, never filled in')] : []),
        ...(chance ? [el('span', {}, el('i', {}, '50.0'), ' at or below chance')] : []),
        ...(ties ? [entry('A', 'tie class: no model in it is significantly worse than its first')] : []),
        ...(sure ? [entry('2–5', 'range of the rank: contains it in at least 95% of cases')] : []),
        ...(ranking.few.some(Boolean) ? [entry('(2–5)', 'the range rests on few tasks')] : []),
        ...(ranking.front?.length ? [el('span', {}, el('b', {}, FRONT.sign), ` ${FRONT.words}: `, el('a', { href: `cost?suite=${encodeURIComponent(payload.suite.key)}` }, 'size and cost'))] : []),
        ...(unknown.length ? [el('span', {}, `${sure ? 'Some ranks have' : 'Ranks have'} no range or class here: ${unknown.length < 3 ? unknown.join(', or ') : 'a rank’s cell says why'}.`)] : []),
        ...(sure && ranking.fixed.length ? [el('span', {}, `Intervals say nothing beyond the one task of ${ranking.fixed.join(', ')}.`)] : []),
        el('span', { class: 'lk-quiet' }, 'A cell opens its sources.'));
    },
  };
}
