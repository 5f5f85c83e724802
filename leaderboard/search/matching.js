/** Finds entries by a few words: in any order, by the beginnings of words, by other names, and with a small mistake in a word. Pure. */

import { encodedKey } from '../js/address.js';

export const LONGEST = 100; // characters of a query
const ALTERNATIVES = 6; // words that one mistaken word may stand for
const BONUS = { Pages: 6, Models: 5, Suites: 5, Metrics: 5, Languages: 4, Tasks: 3, Claims: 0 };
const MATTERS = 4; // for a model or task with scores, and a headline claim
const PER_KIND = 6;

/** Text as words compare: small letters without accents, `RelaxSym` as two words. */
const folded = (text) => text.replace(/(\p{Ll})(\p{Lu}\p{Ll})/gu, '$1 $2').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** The words of a text: letters and numbers stand apart, so `ViT-L/14`, `ViT L14` and `vit_l_14` have the same words. */
export const wordsOf = (text) => folded(text).match(/\p{L}+|\p{N}+(?:\.\p{N}+)?/gu) ?? [];

const joined = (text) => wordsOf(text).join('');

/** The entries ready to be searched. `kinds` and `entries` as the server sends them. */
export function prepare({ kinds, entries }) {
  const vocabulary = new Set();
  const ready = entries.map(([kind, title, note, key, others, matters]) => {
    const [plural] = kinds[kind];
    const id = plural === 'Claims' ? '' : key; // nobody types the key of a claim
    const words = wordsOf(title);
    const beside = wordsOf(`${others} ${note} ${id}`);
    for (const word of [...words, ...beside]) vocabulary.add(word);
    for (const part of title.split(/\s+/)) vocabulary.add(joined(part));
    return {
      kind, title, note, key, words, beside, name: words.join(''), id: joined(id), all: `${words.join('')} ${joined(others)} ${joined(id)}`,
      bonus: (BONUS[plural] ?? 0) + (matters ? MATTERS : 0),
    };
  });
  return { kinds, entries: ready, vocabulary: [...vocabulary].filter((word) => word.length > 2) };
}

/** How well one word of a query fits an entry; 0 where it does not. */
function fit(word, entry) {
  if (entry.words.includes(word)) return 10;
  if (entry.words.some((own) => own.startsWith(word))) return 6;
  if (entry.beside.includes(word)) return 5;
  if (word.length > 2 && entry.name.includes(word)) return 5;
  if (entry.beside.some((own) => own.startsWith(word))) return 3;
  return word.length > 2 && entry.all.includes(word) ? 2 : 0;
}

/** An entry's score for a query, -1 where a word does not fit. `choices`: for each word, those that it may stand for. */
function score(choices, whole, entry) {
  let sum = 0;
  for (const options of choices) {
    let best = 0;
    for (const [word, weight] of options) best = Math.max(best, weight * fit(word, entry));
    if (!best) {
      if (whole.length < 4 || !entry.all.includes(whole)) return -1;
      sum = 5 * choices.length; // the words run together: "dino v2" for DINOv2
      break;
    }
    sum += best;
  }
  sum /= choices.length;
  if (entry.name === whole) sum += 6;
  else if (entry.id === whole) sum += 12;
  else if (entry.name.startsWith(whole)) sum += 4;
  return sum + entry.bonus - 0.3 * Math.min(12, Math.max(0, entry.words.length - choices.length));
}

/**
 * Whether two words differ by at most `most` letters that are missing, added, changed or swapped with the next (Damerau's
 * distance), where the second may go on: `siglpi` is near `siglip`, and near `sigliplarge`.
 */
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

/** The words that a mistaken one may stand for, nearest in length first. */
function corrections(word, vocabulary) {
  if (word.length < 4 || /\p{N}/u.test(word)) return [];
  const most = word.length < 7 ? 1 : 2;
  return vocabulary.filter((other) => near(word, other, most))
    .sort((one, other) => Math.abs(one.length - word.length) - Math.abs(other.length - word.length)).slice(0, ALTERNATIVES);
}

function ranked(choices, whole, entries) {
  const matches = [];
  for (const entry of entries) {
    const value = score(choices, whole, entry);
    if (value >= 0) matches.push([value, entry]);
  }
  return matches.sort(([a, one], [b, other]) => b - a || one.title.length - other.title.length);
}

/** The best entries for a query, at most PER_KIND of a kind, kinds in the order of their best. */
export function find(text, { entries, vocabulary }) {
  const query = text.slice(0, LONGEST);
  const words = [...new Set(wordsOf(query))].slice(0, 12);
  if (!words.length) return [];
  const whole = joined(query);
  let matches = ranked(words.map((word) => [[word, 1]]), whole, entries);
  if (!matches.length) {
    const lenient = words.map((word) => [[word, 1], ...corrections(word, vocabulary).map((other) => [other, 0.6])]);
    matches = ranked(lenient, whole, entries);
  }
  const groups = new Map();
  for (const [, entry] of matches) {
    if (!groups.has(entry.kind)) groups.set(entry.kind, []);
    const group = groups.get(entry.kind);
    if (group.length < PER_KIND) group.push(entry);
  }
  return [...groups].map(([kind, group]) => ({ kind, entries: group }));
}

/** Where an entry leads, relative to the app's root. */
export function addressOf({ kind, key }, kinds) {
  const [, base] = kinds[kind];
  return base ? base + encodedKey(key) : key || './';
}
