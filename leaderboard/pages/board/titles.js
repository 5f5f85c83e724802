/** The titles of columns: where they may break, how wide and how many lines they are. */

const MARGIN = 19; // px next to the title of a column of numbers
let pen = null;
const widths = new Map();

/** The width of a text in px; `font` as in CSS. */
export function textWidth(text, font) {
  const key = `${font}\n${text}`;
  if (!widths.has(key)) {
    pen ??= document.createElement('canvas').getContext('2d');
    pen.font = font;
    widths.set(key, pen.measureText(text).width);
  }
  return widths.get(key);
}

/** Forgets measured widths: they were taken before the page's font had loaded. */
export const forgetWidths = () => widths.clear();

/** A title which may break inside long words where a part begins: CIFAR10|Clustering. */
export const breakable = (title) => title.replace(/\S{10,}/g, (word) => word.replace(/([a-z0-9])(?=[A-Z])|([/_-])(?=\w)/g, '$1$2\u200b'));

/** Width of a column and lines of its title: the longest part of the title and the longest value fit; `tight`: no more than that. */
export function titleSize(title, font, values = [], tight = false) {
  const parts = breakable(title).split(/(?<=[-\u200b\s])/).map((part) => textWidth(part, font));
  const whole = textWidth(title, font);
  const widest = Math.max(...parts, ...values.map((value) => textWidth(value, font) * 1.1), whole <= (tight ? 0 : 84) ? whole : whole / 2.4);
  let width = Math.ceil(Math.min(128, Math.max(56, widest + MARGIN + 2)));
  let lines = linesOf(parts, width - MARGIN);
  // Two lines are room that every header has: a title gets a wider column before it gets a third line.
  for (let wider = width + 4; lines > 2 && wider <= 150; wider += 4) {
    if (linesOf(parts, wider - MARGIN) <= 2) [width, lines] = [wider, 2];
  }
  return { width, lines: Math.min(3, lines) };
}

/** The width of a column that holds these texts, with `room` px next to them. */
export const widthFor = (texts, font, room) => Math.ceil(Math.max(...texts.map((text) => textWidth(text, font)))) + room;

/** The lines that the parts of a title take in a column with so much room. */
function linesOf(parts, width) {
  let [lines, room] = [1, width];
  for (const part of parts) {
    if (part > room && room < width) [lines, room] = [lines + 1, width];
    room -= part;
  }
  return lines;
}
