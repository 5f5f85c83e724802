/**
 * The inputs in the tray, as plain values. An input is one of
 *   {id, kind: 'image', state: 'sending' | 'ready' | 'failed' | 'gone', key, title, note, error, width, height, thumbnail}
 *   {id, kind: 'example', key, title, thumbnail}                 an image that the server has
 *   {id, kind: 'text', text, example: {key, text} | null}        `example` is where the words came from
 * Pure.
 */

export const MOST = 9; // a reference with 8 alternatives
const LONGEST_TEXT = 100_000; // characters; the server refuses more
const LETTERS = 'ABCDEFGHI';

/** Whether the input counts: an image that failed to upload does not. */
export const counts = (input) => input.state !== 'failed' && input.state !== 'gone';

export const modality = (input) => (input.kind === 'text' ? 'text' : 'image');

/** Modalities of what counts, in order: the question to the server which modes fit. */
export const kinds = (inputs) => inputs.filter(counts).map(modality);

/** The name of each slot: letters, and in a choice the first is the reference. */
export const labels = (inputs, mode) => inputs.map((_, index) => (mode !== 'choice' ? LETTERS[index] : index === 0 ? 'Reference' : LETTERS[index - 1]));

/** The key of the example that an input still is, or '' when it is the visitor's own. */
function exampleKey(input) {
  if (input.kind === 'example') return input.key;
  return input.kind === 'text' && input.example && input.text === input.example.text ? input.example.key : '';
}

/** Keys of the examples in order, or null when something of the visitor's own is among them. */
export function exampleKeys(inputs) {
  const keys = inputs.map(exampleKey);
  return keys.includes('') ? null : keys;
}

/** The input as the server takes it. */
export function sent(input) {
  const key = exampleKey(input);
  if (key) return { kind: 'example', key };
  return input.kind === 'text' ? { kind: 'text', text: input.text } : { kind: 'image', key: input.key };
}

/** The number of characters as the server counts them, where an emoji is one. */
const characters = (text) => (text.length > LONGEST_TEXT ? [...text].length : text.length);

/** Why the inputs cannot be compared yet, as a sentence; '' where they can. */
export function obstacle(inputs, mode) {
  const names = labels(inputs, mode);
  const first = (fits) => names[inputs.findIndex(fits)];
  const broken = first((input) => !counts(input));
  if (broken) return `${broken} holds no image: remove it or drop it again`;
  const sending = first((input) => input.state === 'sending');
  if (sending) return `${sending} is still being sent`;
  const blank = first((input) => input.kind === 'text' && !input.text.trim());
  if (blank) return `${blank} is empty: write a text or remove it`;
  const long = first((input) => input.kind === 'text' && characters(input.text) > LONGEST_TEXT);
  return long ? `${long} has more than 100,000 characters: shorten it` : '';
}

/** The inputs with one moved to another index. */
export function moved(inputs, id, index) {
  const one = inputs.find((input) => input.id === id);
  const others = inputs.filter((input) => input !== one);
  return one ? others.toSpliced(Math.max(0, Math.min(index, others.length)), 0, one) : inputs;
}
