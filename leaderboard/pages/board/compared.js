/** The comparison below the table, which Python draws: asked for anew whenever what it compares changes. */

import { debounce, el } from '../../js/dom.js';
import { LEAD, tableQuery } from './state.js';

export const PANEL = 'comparison'; // the element Gradio draws the comparison in
const WAIT = 150; // ms without another change

/**
 * What is to be compared, or null: the selected rows in view and those the filters hide, under the weights and tasks
 * that count, by the column the table is sorted by ('': the mean).
 */
export function question({ state, payload, rows }) {
  if (!state.compare || state.select.length < 2) return null;
  const inView = new Set(rows.map((row) => payload.rows[row].id));
  return {
    ids: state.select.filter((id) => inView.has(id)),
    hidden: state.select.filter((id) => !inView.has(id)),
    suite: payload.suite.key,
    query: tableQuery(state, payload),
    by: LEAD.includes(state.sort.key) ? '' : state.sort.key,
  };
}

/** Keeps the comparison up to date; while it is not, it is dimmed and says that figures changed. */
export function createComparison(board) {
  const heard = el('p', { class: 'lk-unseen', role: 'status' });
  let asked = 'null';
  let turn = 0;
  let late = false;
  const ask = debounce(() => {
    turn += 1;
    const now = question(board);
    board.trigger('compare', now ? { ...now, turn: String(turn) } : { ids: [] });
  }, WAIT);

  function check() {
    const panel = document.getElementById(PANEL);
    const answered = panel?.querySelector('[data-turn]')?.dataset.turn === String(turn) || panel?.querySelector('.pg-message');
    const stale = asked !== 'null' && (ask.waiting() || !answered);
    panel?.toggleAttribute('data-stale', stale);
    if (stale === late) return;
    late = stale;
    heard.textContent = stale ? '' : panel?.querySelector('.bc-verdict')?.textContent ?? '';
  }

  const answers = new MutationObserver(() => {
    if (board.root.isConnected) check();
    else answers.disconnect();
  });
  answers.observe(document.body, { childList: true, subtree: true });

  return {
    nodes: [heard],
    refresh() {
      const next = JSON.stringify(question(board));
      if (next === asked) return;
      const opens = asked === 'null' || next === 'null';
      asked = next;
      ask();
      if (opens) ask.now();
      check();
    },
  };
}
