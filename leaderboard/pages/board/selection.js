/** The bar of the selected rows, and the way to their comparison. */

import { encodedQuery } from '../../js/address.js';
import { button, el } from '../../js/dom.js';
import { originsOf, originTitle } from './rows.js';
import { LEAD, tableQuery } from './state.js';

const rowsOf = (payload, select) => select.map((id) => payload.rows.find((row) => row.id === id)).filter(Boolean);

/** Titles in the order of selection, the first marked as the reference; the origin tells two rows of a model apart. */
export function namesOf(payload, select) {
  const rows = rowsOf(payload, select);
  return rows.map(({ title, origin }, at) => {
    const twice = originsOf(payload).length > 1 && rows.filter((row) => row.title === title).length > 1;
    const words = [twice ? originTitle(origin).toLowerCase() : '', at === 0 && rows.length > 1 ? 'reference' : ''].filter(Boolean).join(', ');
    return words ? `${title} (${words})` : title;
  });
}

/** The page that compares the selected rows, under the weights and tasks that count, by the column the table is sorted by. */
export function compareAddress(state, payload) {
  const rows = rowsOf(payload, state.select);
  const [origin, ...others] = new Set(rows.map((row) => row.origin));
  const query = [['models', rows.map((row) => (others.length ? row.id : row.model)).join(',')], ['suite', payload.suite.key]];
  if (!others.length && originsOf(payload).length > 1) query.push(['origin', origin]);
  if (!LEAD.includes(state.sort.key)) query.push(['by', state.sort.key]);
  return `compare?${[encodedQuery(query), tableQuery(state, payload)].filter(Boolean).join('&')}`;
}

/** The bar itself, floating. */
export function createSelection(board) {
  const names = el('span', { class: 'lk-names' });
  const compare = el('a', { class: 'lk-button lk-primary' });
  const only = button('Show only these', () => board.change({ models: rowsOf(board.payload, board.state.select).map(({ model }) => model) }));
  const pin = button('', () => board.pin(board.state.select));
  const node = el('div', { class: 'lk-selection', role: 'region', 'aria-label': 'Selected rows', hidden: true }, names, compare, only, pin,
    button('Clear', () => board.change({ select: [] }), { class: 'lk-link' }));
  return {
    nodes: [node],
    refresh() {
      const { payload, state } = board;
      const titles = namesOf(payload, state.select);
      names.textContent = titles.length === 1 ? `${titles[0]}: select one more to compare` : titles.join(', ');
      names.title = names.textContent;
      pin.textContent = state.select.every((id) => state.pin.includes(id)) ? 'Unpin' : 'Pin on top';
      compare.hidden = titles.length < 2;
      compare.textContent = `Compare ${titles.length}`;
      compare.href = compareAddress(state, payload);
      node.hidden = !titles.length;
    },
  };
}
