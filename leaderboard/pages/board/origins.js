/** The switch of origins above the table: published, imported or computed rows, or all of them side by side. */

import { button, el } from '../../js/dom.js';
import { originsOf, originTitle } from './rows.js';

const SHORT = new Map([['computed', 'Computed']]);

/** Shown where a suite has rows of several origins; its state is the origin filter. */
export function createOrigins(board) {
  const buttons = el('span', { class: 'lk-switch', role: 'group', 'aria-label': 'Origin of the scores' });
  const node = el('div', { class: 'lk-origins', hidden: true }, buttons, el('span', { class: 'lk-count' }, 'Ranks count within one origin.'));
  let drawn = null;
  return {
    nodes: [node],
    refresh() {
      const { payload, state } = board;
      const origins = originsOf(payload);
      node.hidden = origins.length < 2;
      if (drawn !== payload) {
        drawn = payload;
        const one = (key, title, origin) => button(title, () => board.change({ origin }), { 'data-key': key });
        buttons.replaceChildren(...origins.map((key) => one(key, SHORT.get(key) ?? originTitle(key), [key])), one('all', 'All', []));
      }
      for (const child of buttons.children) {
        const all = !state.origin.length || state.origin.length === origins.length;
        const pressed = child.dataset.key === 'all' ? all : !all && state.origin.includes(child.dataset.key);
        child.setAttribute('aria-pressed', String(pressed));
      }
    },
  };
}
