/** Shows, of the names that a figure has at its points, as many as fit: the best, the worst, then those between. */

import { attach, listen } from './figure.js';

const GAP = 3; // px between a name and what it must not touch
const FEW = 6; // names that are shown even across the line of an interval

/** The order in which the points of a curve are named: both ends, the middle, the middles of the halves, and so on. */
export function endsFirst(count) {
  const order = [...new Set([0, count - 1])].filter((at) => at >= 0 && at < count);
  const spans = [[0, count - 1]];
  while (spans.length) {
    const [first, last] = spans.shift();
    const middle = Math.floor((first + last) / 2);
    if (middle > first && middle < last) {
      order.push(middle);
      spans.push([first, middle], [middle, last]);
    }
  }
  return order;
}

/**
 * Which of each point's possible boxes can be shown, -1 for none. `sides[i]` are the boxes of point i, best first;
 * no name may touch those of `taken`, nor leave `frame`. A name keeps off the `lines` too, except where the ends or
 * fewer than FEW points would go without. Boxes are {left, right, top, bottom}.
 */
export function fitting(sides, { taken, lines, frame }) {
  const occupied = [...taken];
  const chosen = sides.map(() => -1);
  const meets = (a, b) => a.left < b.right + GAP && a.right > b.left - GAP && a.top < b.bottom && a.bottom > b.top;
  const inside = (box) => box.right > box.left && box.left >= frame.left && box.right <= frame.right
    && box.top >= frame.top && box.bottom <= frame.bottom;
  const place = (at, across) => {
    if (chosen[at] >= 0) return;
    const others = across ? occupied : [...occupied, ...lines];
    chosen[at] = sides[at].findIndex((box) => inside(box) && !others.some((other) => meets(box, other)));
    if (chosen[at] >= 0) occupied.push(sides[at][chosen[at]]);
  };
  const order = endsFirst(sides.length);
  const ends = order.slice(0, 2);
  for (const at of ends) {
    place(at, false);
    place(at, true);
  }
  for (const at of order) place(at, false);
  for (const at of order) if (chosen.filter((side) => side >= 0).length < FEW) place(at, true);
  return chosen;
}

const WORDS = '.xtick text, .ytick text, .xtitle, .ytitle, .legend, .annotation';

function show(plot) {
  const traces = (plot._fullData ?? []).filter(({ meta, visible }) => meta === 'names' && visible === true);
  const groups = traces.map(({ uid }) => [...plot.querySelectorAll(`.trace${CSS.escape(uid)} .textpoint text`)]);
  const count = groups[0]?.length ?? 0;
  if (!count || groups.some((group) => group.length !== count)) return;
  const own = traces.map(({ uid }) => `.trace${CSS.escape(uid)}`).join();
  const around = (nodes) => [...nodes].map((node) => node.getBoundingClientRect());
  const others = (selector) => around([...plot.querySelectorAll(selector)].filter((node) => !node.closest(own)))
    .filter(({ width, height }) => width || height);
  const chosen = fitting(groups[0].map((_, at) => around(groups.map((group) => group[at]))), {
    taken: others(`.cartesianlayer .points path, ${WORDS}`),
    lines: others('.cartesianlayer .errorbar path'),
    frame: plot.querySelector('.main-svg').getBoundingClientRect(),
  });
  chosen.forEach((side, at) => groups.forEach((group, index) => { group[at].classList.toggle('pg-named', index === side); }));
  plot.dataset.named = String(chosen.filter((side) => side >= 0).length);
}

const drawn = new WeakMap(); // a figure's own listener, so that it is attached once

/** Names the points of the figure with this id, also after it is drawn again at another width. */
export function mount(owner, { id }) {
  attach(owner, id, (plot) => {
    if (!drawn.has(plot)) drawn.set(plot, () => show(plot));
    listen(plot, 'plotly_afterplot', drawn.get(plot));
    show(plot);
  });
}
