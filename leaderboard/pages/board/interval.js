/** The axis on which the intervals of the means are drawn. Pure. */

import { rounded } from '../../js/number.js';

const MOST_TICKS = 4;

/** The smallest of 1, 2, 5 times a power of ten of which at most `most` fit into `range`. */
function stepOf(range, most) {
  const power = 10 ** Math.floor(Math.log10(range / most));
  return [1, 2, 5, 10].map((one) => one * power).find((step) => range / step <= most);
}

/** {low, high, step, ticks: [{value, text}]} over the means of `rows` and the ends of their intervals, or null where no interval is known or all are one point. */
export function axisOf(ranking, rows) {
  const known = rows.filter((row) => Number.isFinite(ranking.mean_low[row]) && Number.isFinite(ranking.mean_high[row]));
  const ends = known.flatMap((row) => [ranking.mean[row], ranking.mean_low[row], ranking.mean_high[row]]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  if (!(high > low)) return null;
  const step = stepOf(high - low, MOST_TICKS);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at += 1) ticks.push({ value: at * step, text: rounded(at * step, digits) });
  return { low, high, step, ticks };
}

/** The position of a value on the axis, 0 to 1. */
export const partOf = ({ low, high }, value) => (value - low) / (high - low);
