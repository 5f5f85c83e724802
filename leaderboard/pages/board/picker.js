/** The column picker: families and tasks in their groups. */

import { columnHint, isOn, OPTIONAL } from './columns.js';
import { button, el } from '../../js/dom.js';
import { popover } from './popover.js';
import { fillGroupList } from './grouplist.js';
import { defaultTasks, usualColumns } from './state.js';

const tasksOf = (payload) => payload.columns.filter(({ kind }) => kind === 'task').map(({ key }) => key);

/** Columns of a payload in groups, in its order: [{title, items}]. */
export function columnGroups(columns) {
  const groups = new Map();
  for (const column of columns) {
    const title = column.group || 'Columns';
    if (!groups.has(title)) groups.set(title, { title, items: [] });
    groups.get(title).items.push({ key: column.key, title: column.title, hint: columnHint(column) });
  }
  return [...groups.values()];
}

/** The Columns button and its panel; choosing redraws the table behind it at once. */
export function createPicker(board) {
  const menu = popover('Columns', fill, { name: 'Columns', panelClass: 'lk-picker' });

  function fill(panel) {
    const { payload, state } = board;
    const total = payload.columns.length;
    const apply = (chosen) => {
      const keys = (kind) => payload.columns.filter((one) => one.kind === kind && chosen.has(one.key)).map(({ key }) => key);
      board.change({ families: keys('family'), columns: keys('task') });
    };
    const list = fillGroupList(panel, {
      groups: columnGroups(payload.columns),
      chosen: new Set([...state.families, ...state.columns]),
      label: 'Find a column',
      head: (chosen) => `${chosen.size} of ${total} columns shown`,
      onChange: apply,
    });
    const boxes = OPTIONAL.filter(({ exists }) => exists({ payload, ranking: payload.ranking })).map(({ key, title, hint }) => {
      const box = el('input', { type: 'checkbox', checked: isOn(board, key), onchange: () => board.change({ [key]: box.checked ? 'show' : key === 'interval' ? 'hide' : '' }) });
      return { key, box, node: el('label', { title: hint }, box, title) };
    });
    const extra = boxes.length ? [el('div', { class: 'lk-list', role: 'group', 'aria-label': 'Besides the scores' }, ...boxes.map(({ node }) => node))] : [];
    panel.append(...extra, el('div', { class: 'lk-foot' }, button('Default columns', () => {
      const usual = Object.values(usualColumns(payload, board.state.tasks)).flat();
      list.set(usual);
      apply(new Set(usual));
      board.change(Object.fromEntries(boxes.map(({ key }) => [key, ''])));
      boxes.forEach(({ key, box }) => { box.checked = isOn(board, key); });
    }), button('Close', menu.close)));
  }

  /** All tasks instead of the categories, and back. */
  const whole = button('All tasks', () => {
    const { payload, state: { tasks } } = board;
    const all = whole.getAttribute('aria-pressed') === 'false';
    board.change(all ? { families: [], columns: tasksOf(payload) } : usualColumns(payload, tasks));
  });

  function refresh() {
    const { payload, state } = board;
    whole.hidden = defaultTasks(payload, state.tasks).length === tasksOf(payload).length;
    whole.setAttribute('aria-pressed', String(!state.families.length && state.columns.length === tasksOf(payload).length));
    menu.opener.textContent = `Columns ${state.families.length + state.columns.length}/${payload.columns.length}`;
  }

  return { nodes: [menu.opener, menu.panel, whole], refresh, close: menu.close };
}
