/** A click on the correlation matrix opens the pair of tasks. */

import { attach, listen } from '../../js/figure.js';
import { reveal } from '../../js/reveal.js';

/** A click on a cell of the figure `id` selects two of the figure's `meta.keys`, as `x,y`. */
export function mount(owner, { id, select }) {
  let plot = null;
  const clicked = ({ points: [point] }) => {
    const { keys } = plot.layout.meta ?? {};
    const at = point.pointIndex ?? point.pointNumber;
    const [row, column] = Array.isArray(at) ? at : [point.y, point.x];
    const index = (value) => (typeof value === 'number' ? value : plot.data[0].x.indexOf(value));
    const [x, y] = [keys?.[index(column)], keys?.[index(row)]];
    if (!x || !y || x === y) return;
    const pair = `${x},${y}`;
    select({ index: 0, value: pair, selected: true });
    reveal(() => [...document.querySelectorAll('[data-pair]')].find((node) => node.dataset.pair === pair), { focus: (node) => node });
  };
  attach(owner, id, (figure) => {
    plot = figure;
    plot.dataset.listens = 'pair';
    listen(plot, 'plotly_click', clicked);
  });
}
