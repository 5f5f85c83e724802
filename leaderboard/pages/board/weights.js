/** The weights behind the headline: a slider and a number for each category, presets, coverage and tasks counted. */

import { columnGroups } from './picker.js';
import { button, el } from '../../js/dom.js';
import { rounded } from '../../js/number.js';
import { popover } from './popover.js';
import { fillGroupList } from './grouplist.js';
import { presetOf, presetWeights } from './state.js';

const MOST = 5;

/** Whether printed means of categories cover tasks of some row that have no score. */
const usesPrinted = ({ ranking: { coverage, covered } }) => coverage.some((share, row) => covered[row] > share);

/** The Weights button and the panel above the table: every change updates the ranks at once. */
export function createWeights(board) {
  const panel = el('section', { class: 'lk-weights', 'aria-label': 'Weights', hidden: true });
  const opener = button('Weights', toggle, { 'aria-expanded': 'false' });
  let updates = [];
  let drawnFor = null;

  function toggle() {
    panel.hidden = !panel.hidden;
    opener.setAttribute('aria-expanded', String(!panel.hidden));
    if (!panel.hidden) {
      draw();
      refresh();
    }
  }

  function setWeight(category, value) {
    const weights = new Map(board.state.weights);
    weights.set(category, value);
    // With every weight at 0 there is nothing to average: the last weight stays.
    if ([...weights.values()].some((weight) => weight > 0)) board.change({ weights });
    else refresh();
  }

  function slider(category) {
    const range = el('input', { type: 'range', class: 'lk-range', min: 0, max: MOST, step: 0.25, 'aria-label': `Weight of ${category}`,
      oninput: () => setWeight(category, Number(range.value)) });
    const number = el('input', { type: 'number', class: 'lk-input lk-number', min: 0, max: 100, step: 0.25, 'aria-label': `Weight of ${category}, number`,
      onchange: () => {
        const value = Number(number.value);
        if (number.value !== '' && value >= 0 && value <= 100) setWeight(category, value);
        else refresh();
      } });
    updates.push(() => {
      const weight = board.state.weights.get(category);
      if (Number(range.value) !== weight) range.value = weight;
      if (Number(number.value) !== weight || number.value === '') number.value = weight;
    });
    return el('div', { class: 'lk-weight' }, el('span', { title: category }, category), range, number);
  }

  function coverage() {
    const range = el('input', { type: 'range', class: 'lk-range', min: 0, max: 100, step: 5, 'aria-label': 'Minimum coverage to be ranked, percent',
      oninput: () => board.change({ coverage: Number(range.value) / 100 }) });
    const text = el('output', {});
    updates.push(() => {
      const percent = Number(rounded(board.state.coverage * 100, 0));
      if (Number(range.value) !== percent) range.value = percent;
      text.textContent = `${percent}%${usesPrinted(board.payload) ? '*' : ''}`;
    });
    return el('div', { class: 'lk-weight' }, el('span', { title: 'Rows that cover fewer tasks are listed but not ranked' }, 'Minimum coverage'), range, text);
  }

  function tasks() {
    const all = board.payload.columns.filter(({ kind }) => kind === 'task');
    if (all.length < 2) return [];
    const menu = popover('', (box) => {
      const chosen = new Set(board.state.tasks.length ? board.state.tasks : all.map(({ key }) => key));
      const list = fillGroupList(box, {
        groups: columnGroups(all), chosen, label: 'Find a task',
        head: (keys) => `${keys.size} of ${all.length} tasks count towards the headline`,
        onChange: (keys) => board.change({ tasks: keys.size === all.length ? [] : all.map(({ key }) => key).filter((key) => keys.has(key)) }),
      });
      const sound = all.filter(({ doubtful }) => !doubtful).map(({ key }) => key);
      const count = (keys) => () => {
        list.set(keys);
        board.change({ tasks: keys.length === all.length ? [] : keys });
      };
      box.append(el('div', { class: 'lk-foot' }, button('Count all tasks', count(all.map(({ key }) => key))),
        ...(sound.length && sound.length < all.length ? [button(`Leave out ${all.length - sound.length} doubtful`, count(sound), { title: 'Tasks with a severe known fault, at chance for every model, or without a correlation with any other: each column says which' })] : []),
        button('Close', menu.close)));
    }, { name: 'Tasks counted', panelClass: 'lk-picker' });
    updates.push(() => { menu.opener.textContent = `Tasks counted ${board.state.tasks.length || all.length}/${all.length}`; });
    return [menu.opener, menu.panel];
  }

  function draw() {
    if (drawnFor === board.payload) return;
    drawnFor = board.payload;
    updates = [];
    const { payload } = board;
    const presets = payload.presets.map((preset) => {
      const node = button(preset.title, () => board.change({ weights: presetWeights(payload, preset) }), { class: 'lk-button lk-preset' });
      updates.push(() => node.setAttribute('aria-pressed', String(presetOf(payload, board.state.weights) === preset.key)));
      return node;
    });
    const reset = button('The suite’s own mean', () => board.resetRule(), { class: 'lk-link' });
    const printed = usesPrinted(payload)
      ? ' Where the paper prints a category’s mean, that mean is used (*) and covers the tasks without a score.' : '';
    panel.replaceChildren(
      el('div', { class: 'lk-sliders' }, ...payload.categories.map(slider), ...(payload.suite.aggregate === 'human' ? [] : [coverage()])),
      el('div', { class: 'lk-foot' }, ...(presets.length > 1 ? presets : []), ...tasks(), reset),
      ...(payload.suite.aggregate === 'human' ? [] : [el('p', { class: 'lk-count' }, `A model is ranked if it covers this share of the tasks that count.${printed}`)]));
  }

  function refresh() {
    const { payload, ranking } = board;
    const adjustable = payload.categories.length > 1;
    opener.hidden = !adjustable;
    if (!adjustable) panel.hidden = true;
    opener.setAttribute('aria-expanded', String(!panel.hidden));
    opener.classList.toggle('lk-on', Boolean(ranking.changed));
    if (panel.hidden) return;
    draw();
    updates.forEach((update) => update());
  }

  return { nodes: [opener], panel, refresh };
}
