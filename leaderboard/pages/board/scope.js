/** The parts of a suite that can be ranked by themselves: its data sets, splits, conditions and languages, and its metrics. */

import { el } from '../../js/dom.js';

export const SCOPE = ['condition', 'metric', 'language']; // in the address; each is its own table
export const PARTS = ['dataset', 'split']; // in the address; they choose the tasks that count

/** The condition, metric and language a query string names, as a query string of data/board; '' for the whole suite. */
export function scopeOf(search) {
  const query = new URLSearchParams(search);
  const named = SCOPE.flatMap((key) => (/^[a-z0-9_,-]{1,60}$/.test(query.get(key) ?? '') ? [[key, query.get(key)]] : []));
  return new URLSearchParams(named).toString();
}

/** The same of a payload. */
export const scopeOfPayload = ({ suite }) => new URLSearchParams(SCOPE.flatMap((key) => (suite[key] ? [[key, suite[key]]] : []))).toString();

/** Keys of the tasks of a data set and a split; null where either is unknown, or they have none in common. */
export function partTasks(payload, { dataset = '', split = '' }) {
  const ofSplit = payload.choices.splits.find(({ key }) => key === split)?.tasks;
  if ((split && !ofSplit) || (dataset && !payload.categories.includes(dataset))) return null;
  const tasks = payload.columns.filter(({ kind, key, group }) => kind === 'task' && (!dataset || group === dataset) && (!ofSplit || ofSplit.includes(key)))
    .map(({ key }) => key);
  return tasks.length ? tasks : null;
}

/** The data set and the split that `tasks` are exactly, {dataset, split}; null for any other choice of tasks. */
export function partOf(payload, tasks) {
  if (!tasks.length || !payload.choices.splits.length) return null;
  const wanted = tasks.join();
  for (const split of ['', ...payload.choices.splits.map(({ key }) => key)]) {
    for (const dataset of ['', ...payload.categories]) {
      if ((dataset || split) && partTasks(payload, { dataset, split })?.join() === wanted) return { dataset, split };
    }
  }
  return null;
}

/** The selects above the table, shown where the suite has something to choose. */
export function createScope(board) {
  const node = el('div', { class: 'lk-scope', role: 'group', 'aria-label': 'Part of the suite', hidden: true });
  let drawn = null;

  /** A select of `options` [{key, title, hint, disabled}]; the first of them is ''. */
  function choice(title, chosen, options, onChoose) {
    const list = el('select', { class: 'lk-input', 'data-key': title, title: options.find(({ key }) => key === chosen)?.hint ?? '', onchange: () => onChoose(list.value) },
      ...options.map(({ key, title: text, hint, disabled }) => el('option', { value: key, title: hint, disabled }, text)));
    list.value = chosen;
    return el('label', { class: 'lk-scope-part' }, el('span', {}, title), list);
  }

  function parts({ payload, state }) {
    const part = partOf(payload, state.tasks) ?? { dataset: '', split: '' };
    const own = state.tasks.length && !part.dataset && !part.split;
    const choose = (patch) => board.choosePart(partTasks(payload, { ...part, ...patch }) ?? partTasks(payload, patch) ?? []);
    const all = (text) => ({ key: '', title: own ? 'Chosen tasks' : text });
    return [
      payload.categories.length > 1 && choice('Data set', part.dataset, [all('All'), ...payload.categories.map((key) => ({ key, title: key }))], (dataset) => choose({ dataset })),
      choice('Split', part.split, [all('All'), ...payload.choices.splits.map(({ key, title }) => ({ key, title, disabled: !partTasks(payload, { ...part, split: key }) }))],
        (split) => choose({ split })),
    ].filter(Boolean);
  }

  function fill({ payload, state }) {
    const { conditions, metrics, splits, languages } = payload.choices;
    const { condition, metric, language } = payload.suite;
    const nodes = splits.length ? parts({ payload, state }) : [];
    if (conditions.length) {
      nodes.push(choice('Condition', condition, [{ key: '', title: conditions.length === 2 ? 'Both' : 'All' }, ...conditions], (key) => {
        const other = metrics.find((one) => one.key === metric);
        board.setScope({ condition: key, metric: !key || !other || other.conditions.includes(key) ? metric : '' });
      }));
    }
    if (languages.length) nodes.push(choice('Language', language, [{ key: '', title: 'All' }, ...languages], (key) => board.setScope({ language: key })));
    if (metrics.length) {
      const [headline, ...others] = metrics;
      nodes.push(choice('Metric', metric === headline.key ? '' : metric, [{ ...headline, key: '' }, ...others], (key) => {
        const one = others.find((other) => other.key === key);
        board.setScope({ metric: key, condition: !one || one.conditions.includes(condition) ? condition : '' });
      }));
    }
    const open = payload.columns.filter(({ kind, private: isPrivate }) => kind === 'task' && !isPrivate).map(({ key }) => key);
    const hidden = payload.columns.filter((column) => column.private).length;
    if (hidden && open.length) {
      const only = state.tasks.join() === open.join();
      nodes.push(choice('Test sets', only ? 'open' : '', [{ key: '', title: state.tasks.length && !only ? 'Chosen tasks' : 'All' }, { key: 'open', title: 'Public', hint: `Without the ${hidden} private ones, which only their keepers can measure` }],
        (key) => board.change({ tasks: key ? open : [] })));
    }
    node.hidden = !nodes.length;
    const focused = node.contains(document.activeElement) ? document.activeElement.dataset.key : '';
    node.replaceChildren(...nodes);
    if (focused) node.querySelector(`[data-key="${focused}"]`)?.focus();
  }

  return {
    nodes: [node],
    refresh() {
      const now = `${board.payload.version} ${board.payload.suite.key} ${scopeOfPayload(board.payload)} ${board.state.tasks}`;
      if (now === drawn) return;
      drawn = now;
      fill(board);
    },
  };
}
