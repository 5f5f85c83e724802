/** Suggests known names for an unknown one: by the beginnings of its words, and with small mistakes in them. Pure. */

const ENOUGH = 0.5; // mean fit of the words of a name

/** Text as words compare: small letters without accents, `RelaxSym` as two words. */
const folded = (text) => text.replace(/(\p{Ll})(\p{Lu}\p{Ll})/gu, '$1 $2').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** The words of a text: letters and numbers are apart, so `ViT-L/14`, `ViT L14` and `vit_l_14` have the same words. */
export const wordsOf = (text) => folded(text).match(/\p{L}+|\p{N}+(?:\.\p{N}+)?/gu) ?? [];

/** How many mistakes a word may have and still be understood. */
export const mistakes = (word) => (word.length < 4 || /\p{N}/u.test(word) ? 0 : word.length < 7 ? 1 : 2);

/** Whether two words differ by at most `most` letters that are missing, added, changed or swapped with the next (Damerau's distance), where the second may go on: `siglpi` is near `siglip`, and near `sigliplarge`. */
export function near(word, other, most) {
  if (other.length < word.length - most) return false;
  const target = other.slice(0, word.length + most);
  let [before, last] = [[], Array.from({ length: target.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= word.length; row += 1) {
    const next = [row];
    let least = row;
    for (let at = 1; at <= target.length; at += 1) {
      const same = word[row - 1] === target[at - 1] ? 0 : 1;
      let cost = Math.min(last[at] + 1, next[at - 1] + 1, last[at - 1] + same);
      if (row > 1 && at > 1 && word[row - 1] === target[at - 2] && word[row - 2] === target[at - 1]) cost = Math.min(cost, before[at - 2] + 1);
      next[at] = cost;
      least = Math.min(least, cost);
    }
    if (least > most) return false;
    [before, last] = [last, next];
  }
  return Math.min(...last.slice(Math.max(0, word.length - most))) <= most;
}

/** How well a word fits a name's words, from 0 to 1. */
function fit(word, words) {
  if (words.includes(word)) return 1;
  if (word.length < 3) return 0;
  if (words.some((other) => other.startsWith(word))) return 0.8;
  const most = mistakes(word);
  if (most && words.some((other) => near(word, other, most))) return 0.6;
  return words.some((other) => other.startsWith(word.slice(0, Math.max(2, 0.4 * word.length)))) ? 0.3 : 0;
}

/** Of the names in `known` the one whose words fit those of `name` best, of equals the shortest; '' where none is near. */
export function nearest(name, known) {
  const asked = wordsOf(name.slice(0, 100));
  let [best, share] = ['', ENOUGH];
  for (const other of known) {
    const words = wordsOf(other);
    const mean = asked.reduce((sum, word) => sum + fit(word, words), 0) / asked.length;
    if (mean > share || (best && mean === share && other.length < best.length)) [best, share] = [other, mean];
  }
  return best;
}

/** ` Did you mean “x”?`, to follow a sentence; '' where none is near. */
export function suggestion(name, known) {
  const found = nearest(name, known);
  return found && ` Did you mean “${found}”?`;
}
