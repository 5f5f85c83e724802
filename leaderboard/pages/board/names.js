/** Names in the room that a cell has: shortened in the middle, so that what tells two of them apart is still read. Pure. */

const CUT = '…';
const LEAST = 2; // characters on either side of a cut
const SLACK = 8; // more characters may go than must, for a cut between words
const MIDDLE = 0.6; // where a cut is least in the way: a name's beginning says most
const NEAR = 0.5; // names that share so much of the shorter one are distinguished by the rest
const BREAK = /(?<=[\s,/_-])/; // a line may end after these

/** The length of the common beginning of two texts. */
function shared(one, other) {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  return length;
}

/** What of `name` differs from `other`, [from, to): from === to where `other` only has more. */
function difference(name, other) {
  const from = shared(name, other);
  const most = Math.min(name.length, other.length) - from;
  let end = 0;
  while (end < most && name.at(-1 - end) === other.at(-1 - end)) end += 1;
  return { from, to: name.length - end, alike: (from + end) / Math.min(name.length, other.length) };
}

const isEdge = (before, after) => !/\w/.test(before) || !/\w/.test(after);

/** Every cut of a name that fits and takes few characters more than it must: [{from, to, text}]. */
function cutsOf(name, fits) {
  const cuts = [];
  let fewest = 0;
  for (let gone = 2; gone <= name.length - 2 * LEAST && (!fewest || gone <= fewest + SLACK); gone += 1) {
    for (let from = LEAST; from + gone <= name.length - LEAST; from += 1) {
      const text = `${name.slice(0, from).trimEnd()}${CUT}${name.slice(from + gone).trimStart()}`;
      if (fits(text)) cuts.push({ from, to: from + gone, text });
    }
    if (cuts.length && !fewest) fewest = gone;
  }
  return cuts;
}

/** How good a cut is: above all it hides nothing that tells the name from its near ones. */
function worth(name, { from, to }, differences) {
  const hidden = differences.reduce((sum, part) => {
    const end = Math.max(part.to, part.from + 1);
    return sum + Math.max(0, Math.min(to, end) - Math.max(from, part.from)) / (end - part.from);
  }, 0);
  const edges = Number(isEdge(name[from - 1], name[from])) + Number(isEdge(name[to - 1], name[to]));
  return -20 * hidden - 2 * (to - from) + 3 * edges - 12 * Math.abs((from + to) / 2 / name.length - MIDDLE);
}

/** Each of `names` as it is shown, a Map; no two are shown the same. `fits(text)` says whether a text has room. */
export function shortNames(names, fits) {
  const all = [...new Set(names)];
  const shown = new Map(all.filter(fits).map((name) => [name, name]));
  const taken = new Set(shown.values());
  for (const name of all) {
    if (shown.has(name)) continue;
    const differences = all.filter((other) => other !== name).map((other) => difference(name, other)).filter(({ alike }) => alike >= NEAR);
    const [best] = cutsOf(name, fits).filter(({ text }) => !taken.has(text))
      .map((cut) => ({ text: cut.text, value: worth(name, cut, differences) })).sort((one, other) => other.value - one.value);
    const text = best?.text ?? name;
    shown.set(name, text);
    taken.add(text);
  }
  return shown;
}

/** The lines of a text in so much room; `width(text)` in px. A line ends between words, or in a word that is wider than the room. */
export function linesOf(text, room, width) {
  const lines = greedy(text, room, width);
  return lines.length === 2 ? evenly(text, lines, room, width) : lines;
}

function greedy(text, room, width) {
  const lines = [];
  let line = '';
  for (const part of text.split(BREAK)) {
    if (width((line + part).trimEnd()) <= room) line += part;
    else {
      if (line) lines.push(line);
      line = '';
      for (const sign of part) {
        if (line && width(line + sign.trimEnd()) > room) {
          lines.push(line);
          line = '';
        }
        line += sign;
      }
    }
  }
  return line ? [...lines, line] : lines;
}

/** Two lines of about one width, parted at a space where both then fit. */
function evenly(text, lines, room, width) {
  const longer = ([first, second]) => Math.max(width(first.trimEnd()), width(second));
  const [best] = [...text.matchAll(/ /g)].map(({ index }) => [text.slice(0, index + 1), text.slice(index + 1)])
    .filter((pair) => longer(pair) <= room).sort((one, other) => longer(one) - longer(other));
  return best ?? lines;
}
