/** Finds entries by a few words: in any order, by the beginnings of words, by other names, and with a small mistake in a word. Pure. */

import { encodedKey } from '../js/address.js';
import { mistakes, near, wordsOf } from '../js/nearest.js';

const LONGEST = 100; // characters of a query
const ALTERNATIVES = 6; // words that one mistaken word may stand for
const BONUS = { Pages: 6, Models: 5, Suites: 5, Metrics: 5, Docs: 4, Languages: 4, Tasks: 3, Claims: 0 };
const MATTERS = 4; // for a model or task with scores, and a headline claim
const PER_KIND = 6;
const FILLERS = new Set('a an are by can do does for how i is my of the to what which why'.split(' ')); // of a question

const joined = (text) => wordsOf(text).join('');

/** The entries ready to be searched. `kinds` and `entries` as the server sends them. */
export function prepare({ kinds, entries }) {
  const vocabulary = new Set();
  const ready = entries.map(([kind, title, note, key, others, matters]) => {
    const [plural] = kinds[kind];
    const id = plural === 'Claims' ? '' : key; // nobody types the key of a claim
    const words = wordsOf(title);
    const context = wordsOf(`${others} ${note} ${id}`);
    for (const word of [...words, ...context]) vocabulary.add(word);
    for (const part of title.split(/\s+/)) vocabulary.add(joined(part));
    return {
      kind, title, note, key, words, context, name: words.join(''), id: joined(id), all: `${words.join('')} ${joined(others)} ${joined(id)}`,
      bonus: (BONUS[plural] ?? 0) + (matters ? MATTERS : 0),
    };
  });
  return { kinds, entries: ready, vocabulary: [...vocabulary].filter((word) => word.length > 2) };
}

/** How well one word of a query fits an entry; 0 where it does not. */
function fit(word, entry) {
  if (entry.words.includes(word)) return 10;
  if (/^\p{N}$/u.test(word)) return entry.context.includes(word) ? 5 : 0; // SigLIP 2 is no SigLIP of 224 pixels
  if (entry.words.some((own) => own.startsWith(word))) return 6;
  if (entry.context.includes(word)) return 5;
  if (word.length > 2 && entry.name.includes(word)) return 5;
  if (entry.context.some((own) => own.startsWith(word))) return 3;
  return word.length > 2 && entry.all.includes(word) ? 2 : 0;
}

/** An entry's score for a query, -1 where more than `missing` of its words do not fit. `choices`: for each word, those that it may stand for. */
function score(choices, whole, entry, missing) {
  let [sum, lost] = [0, 0];
  for (const options of choices) {
    let best = 0;
    for (const [word, weight] of options) best = Math.max(best, weight * fit(word, entry));
    if (best) sum += best;
    else if (whole.length > 3 && entry.all.includes(whole)) {
      sum = 5 * choices.length; // the words run together: "dino v2" for DINOv2
      break;
    } else if ((lost += 1) > missing) return -1;
  }
  sum /= choices.length;
  if (entry.name === whole) sum += 6;
  else if (entry.id === whole) sum += 12;
  else if (entry.name.startsWith(whole)) sum += 4;
  return sum + entry.bonus - 0.3 * Math.min(12, Math.max(0, entry.words.length - choices.length));
}

/** A word, and those of the vocabulary that it may stand for if it is mistaken, nearest in length first. */
function meant(word, vocabulary) {
  const most = mistakes(word);
  const others = most ? vocabulary.filter((other) => near(word, other, most)) : [];
  others.sort((one, other) => Math.abs(one.length - word.length) - Math.abs(other.length - word.length));
  return [[word, 1], ...others.slice(0, ALTERNATIVES).map((other) => [other, 0.6])];
}

function ranked(choices, whole, entries, missing = 0) {
  const matches = [];
  for (const entry of entries) {
    const value = score(choices, whole, entry, missing);
    if (value >= 0) matches.push([value, entry]);
  }
  return matches.sort(([a, one], [b, other]) => b - a || one.title.length - other.title.length);
}

/**
 * The best entries for a query: {groups, exact}, of a kind at most PER_KIND, kinds in the order of their best. Where none
 * has all words as they are written, `exact` is false and the entries are those that may be meant: with a small mistake in
 * a word, else with at least half of the words.
 */
export function find(text, { entries, vocabulary }) {
  const query = text.slice(0, LONGEST);
  const all = [...new Set(wordsOf(query))].slice(0, 12);
  const telling = all.filter((word) => !FILLERS.has(word));
  const words = telling.length ? telling : all;
  const whole = joined(query);
  let matches = words.length ? ranked(words.map((word) => [[word, 1]]), whole, entries) : [];
  const exact = matches.length > 0;
  if (!exact) {
    const choices = words.map((word) => meant(word, vocabulary));
    matches = ranked(choices, whole, entries);
    const long = choices.filter(([[word]]) => word.length > 2);
    if (!matches.length && long.length && words.length > 1) matches = ranked(long, whole, entries, Math.floor(long.length / 2));
  }
  const groups = new Map();
  for (const [, entry] of matches) {
    if (!groups.has(entry.kind)) groups.set(entry.kind, []);
    const group = groups.get(entry.kind);
    if (group.length < PER_KIND) group.push(entry);
  }
  return { groups: [...groups].map(([kind, group]) => ({ kind, entries: group })), exact };
}

/** Where an entry leads, relative to the app's root. */
export function addressOf({ kind, key }, kinds) {
  const [, base] = kinds[kind];
  return base ? base + encodedKey(key) : key || './';
}
