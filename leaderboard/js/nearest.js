/** The nearest of what there is to a name that is not there. Pure. */

const NEAR = 0.5; // share of letter pairs that two names have in common

/** The pairs of letters of a word, each as often as it occurs. */
function pairs(word) {
  const text = word.toLowerCase();
  return Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2));
}

/** The key that shares most pairs of letters with `key` (Dice's coefficient), or '' where none is near. */
export function nearest(key, known) {
  const own = pairs(key);
  let [best, share] = ['', NEAR];
  for (const other of known) {
    const left = pairs(other);
    const all = own.length + left.length;
    let common = 0;
    for (const pair of own) {
      const at = left.indexOf(pair);
      if (at >= 0) {
        common += 1;
        left.splice(at, 1);
      }
    }
    if (all && (2 * common) / all > share) [best, share] = [other, (2 * common) / all];
  }
  return best;
}

/** ` Did you mean “x”?`, to follow a sentence; '' where none is near. */
export function suggestion(key, known) {
  const near = nearest(key, known);
  return near && ` Did you mean “${near}”?`;
}
