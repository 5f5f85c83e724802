/** The switch of origins above the table, each with its number of ranked models, or all of them side by side. */

import { button, el } from '../../js/dom.js';
import { ORIGINS, originsOf } from './rows.js';

/** Shown where a suite has rows of several origins; its state is the origin filter. */
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
          ...[...ORIGINS].map(([key, title]) => button(`${title} ${ranked(key)}`, () => board.change({ origin: [key] }), { 'data-key': key, disabled: !present.includes(key) })),
          button('All', () => board.change({ origin: [] }), { 'data-key': 'all' }));
      }
      const all = !state.origin.length || state.origin.length === present.length;
      for (const child of node.children) {
        child.setAttribute('aria-pressed', String(child.dataset.key === 'all' ? all : !all && state.origin.includes(child.dataset.key)));
      }
    },
  };
}
