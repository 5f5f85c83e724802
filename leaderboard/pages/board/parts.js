/** The smaller parts around the table: suites, empty and failed states, legend. */

import { APART, FRONT, isEstimated, MARKS } from './columns.js';
import { button, el } from '../../js/dom.js';
import { createNoResults } from '../../js/no_results.js';
import { differingRanks, DOUBTFUL, originsOf, originTitle } from './rows.js';

/** The groups of suites as tabs, the suites of the open group with what the open one is. */
export function createSuites(board) {
  const tabs = el('nav', { class: 'lk-suites', 'aria-label': 'Benchmarks' });
  const variants = el('nav', { class: 'lk-switch', 'aria-label': 'Suites' });
  const about = el('span');
  const line = el('div', { class: 'lk-about' }, variants, about);
  let drawn = '';
  const to = ({ key, benchmark_title: benchmark }, words, css) => {
    const ahead = () => board.source.load(key).catch(() => null);
    return button(words, () => board.go(key), { class: css, 'data-key': key, title: benchmark, onpointerenter: ahead, onfocus: ahead });
  };
  return {
    node: el('div', {}, tabs, line),
    refresh() {
      const { suites, suite } = board.payload;
      const { group } = suites.find(({ key }) => key === suite.key);
      const groups = Map.groupBy(suites, (one) => one.group);
      // It says how the suite makes its mean, which is not true of another mean.
      about.textContent = board.ranking.changed ? '' : suite.description;
      const now = [suite.key, ...suites.map(({ key }) => key)].join();
      if (drawn === now) return;
      drawn = now;
      tabs.replaceChildren(...[...groups].map(([name, [first]]) => {
        const tab = to(first, name, 'lk-suite');
        if (name === group) tab.setAttribute('aria-current', 'true');
        if (first.synthetic) tab.append(' ', el('span', { class: 'lk-badge lk-drawn' }, 'synthetic'));
        return tab;
      }));
      const open = tabs.querySelector('[aria-current]');
      tabs.scrollLeft = open.offsetLeft + open.offsetWidth - tabs.clientWidth + 40; // where all are one line that scrolls
      const members = groups.get(group);
      variants.hidden = members.length < 2 && !suite.key.startsWith('own-');
      variants.replaceChildren(...members.map((one) => {
        const part = to(one, one.variant, 'lk-button');
        part.setAttribute('aria-pressed', String(one.key === suite.key));
        return part;
      }));
    },
  };
}

/** The switch of origins, each with its number of ranked models, or all side by side; shown where a suite has rows of several. */
export function createOrigins(board) {
  const node = el('span', { class: 'lk-switch', role: 'group', 'aria-label': 'Origin of the scores', title: 'Models with a rank; ranks count within one origin', hidden: true });
  let drawn = null;
  return {
    nodes: [node],
    refresh() {
      const { payload, state } = board;
      const present = originsOf(payload);
      node.hidden = present.length < 2;
      if (drawn !== payload) {
        drawn = payload;
        const ranked = (origin) => payload.rows.filter((row, at) => row.origin === origin && payload.ranking.rank[at] !== null).length;
        node.replaceChildren(
          ...present.map((key) => button(`${originTitle(key)} ${ranked(key)}`, () => board.change({ origin: [key] }), { 'data-key': key })),
          button('All', () => board.change({ origin: [] }), { 'data-key': 'all' }));
      }
      const all = !state.origin.length || state.origin.length === present.length;
      for (const child of node.children) {
        child.setAttribute('aria-pressed', String(child.dataset.key === 'all' ? all : !all && state.origin.includes(child.dataset.key)));
      }
    },
  };
}

/** The switch that also estimates where models without every task would stand, with how many it does. */
export function createEstimates(board) {
  const node = button('Estimates', () => board.change({ estimates: board.state.estimates ? '' : 'show' }), {
    title: 'Also estimate models that lack tasks: where they would stand, from the tasks that they have and the complete models' });
  return {
    nodes: [node],
    refresh() {
      const { payload, ranking, state } = board;
      const count = board.rows.filter((row) => isEstimated(ranking, row)).length;
      node.hidden = payload.suite.aggregate === 'human' || !payload.ranking.rank.includes(null);
      node.setAttribute('aria-pressed', String(state.estimates === 'show'));
      node.textContent = ranking.place ? `Estimates ${count}` : 'Estimates';
    },
  };
}

/** The switch that leaves out the scores which the rest of the evidence contradicts, with how many there are. */
export function createDoubtful(board) {
  const node = button('No doubtful', () => board.change({ doubtful: board.state.doubtful === 'hide' ? '' : 'hide' }));
  return {
    nodes: [node],
    refresh() {
      const { payload, state } = board;
      const shown = Object.entries(payload.marks).filter(([cell, bits]) => {
        const [row, column] = cell.split(',');
        return bits & DOUBTFUL && payload.columns[column].kind === 'task' && (!state.origin.length || state.origin.includes(payload.rows[row].origin));
      });
      node.hidden = payload.suite.aggregate === 'human' || (!shown.length && !state.doubtful);
      node.setAttribute('aria-pressed', String(state.doubtful === 'hide'));
      node.title = `Leave out ${shown.length} scores, marked ?, which other evidence contradicts: ranks then count them as missing`;
    },
  };
}

/** The line above a table whose mean is not the suite's own: what was changed, how many ranks differ, and the way back. */
export function createChanged(board) {
  const [words, effect] = [el('span', { role: 'status' }), el('span')];
  const node = el('p', { class: 'lk-changed', hidden: true }, words,
    button('Reset', () => board.resetRule(), { class: 'lk-link', 'aria-label': 'Reset to the suite’s own mean' }), effect);
  return {
    nodes: [node],
    refresh() {
      const { payload, ranking, state } = board;
      node.hidden = !ranking.changed;
      const { differ, of } = ranking.changed ? differingRanks(payload, ranking, state) : {};
      words.textContent = ranking.changed ? `Your mean: ${ranking.changed} · ${differ} of ${of} ranks differ · ` : '';
      effect.textContent = ranking.effect ?? '';
    },
  };
}

/** The line above a table some of whose ranks have no range: why, and the origin that has more of them. */
export function createUnknown(board) {
  const words = el('span');
  const way = button('', () => board.change({ origin: [board.payload.origin] }), { class: 'lk-link' });
  const node = el('p', { class: 'lk-unknown', hidden: true }, words, way);
  return {
    nodes: [node],
    refresh() {
      const { payload, ranking, state } = board;
      const ranked = payload.rows.flatMap(({ origin }, row) => (ranking.rank[row] !== null && (!state.origin.length || state.origin.includes(origin)) ? [row] : []));
      const without = ranked.filter((row) => ranking.low[row] === null && ranking.unknown[row]);
      const reasons = [...new Set(without.map((row) => ranking.unknown[row]))];
      node.hidden = !without.length;
      words.textContent = `${without.length === ranked.length ? 'Ranks have' : `${without.length} of ${ranked.length} ranks have`} no range or class: ${reasons.length < 3 ? reasons.join(', or ') : `${reasons[0]}; a rank’s cell says which`}.`;
      way.hidden = !state.origin.length || state.origin.includes(payload.origin);
      way.textContent = `Open ${originTitle(payload.origin).toLowerCase()}`;
    },
  };
}

/** The message instead of the table while it loads, or when it failed to. */
export function createFailure() {
  const node = el('div', { class: 'lk-state', role: 'status' });
  const say = (...parts) => {
    node.hidden = !parts.length;
    node.replaceChildren(...parts);
  };
  return {
    node, clear: say, loading: () => say(el('p', { class: 'lk-quiet' }, 'Loading the table…')),
    fail: (message, retry) => say(el('p', {}, `The table did not load. ${message}`), button('Retry', retry)),
  };
}

/** The message instead of rows when search and filters leave none. */
export function createEmpty(board) {
  const noResults = createNoResults((q) => board.change({ q }), button('Reset', () => board.reset()));
  return {
    nodes: [noResults.node],
    refresh: () => noResults.refresh(board.rows.length, board.state.q, board.payload.rows.map(({ title }) => title)),
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
      node.replaceChildren(
        el('span', { class: 'lk-scale' }, 'worst', el('span', { class: 'lk-strip', role: 'img', 'aria-label': 'shading from worst to best' }), best),
        ...MARKS.filter(([bit]) => bits & bit).map(([bit, sign, words]) => entry(sign, bit & APART ? `${words}; never the best of its column` : words)),
        ...(missing ? [entry('—', 'no value, never filled in')] : []),
        ...(chance ? [el('span', {}, el('i', {}, '50.0'), ' at or below chance')] : []),
        ...(ties ? [entry('A', 'tie class: no model in it is significantly worse than another')] : []),
        ...(sure ? [entry('2–5', 'range of the rank: contains it in at least 95% of cases')] : []),
        ...(ranking.front?.length ? [el('span', {}, el('b', {}, FRONT.sign), ` ${FRONT.words}: `, el('a', { href: `cost?suite=${encodeURIComponent(payload.suite.key)}` }, 'size and cost'))] : []),
        ...(sure && ranking.fixed.length ? [el('span', {}, `Intervals of means say nothing beyond the one task of ${ranking.fixed.join(', ')}.`)] : []),
        el('span', { class: 'lk-quiet' }, 'A cell opens its sources.'));
    },
  };
}
