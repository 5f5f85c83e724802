/** Ready comparisons, and what each expects. */

import { el } from '../../../js/dom.js';
import { exampleKeys, labels } from './inputs.js';
import { arrange, press, say, section } from '../parts.js';
import { sentence } from '../words.js';

/** The expected answer of a comparison in words: `B, The cup, blurred`. `titles` are by example key. Pure. */
export function expectedAnswer({ mode, inputs, expected }, titles) {
  if (expected === null || expected === undefined) return 'a matching pair';
  const index = expected + (mode === 'choice' ? 1 : 0);
  return `${labels(inputs, mode)[index]}, ${titles.get(inputs[index])}`;
}

export function createReady(tray) {
  const list = el('ul', { class: 'tr-ready' });
  const chosen = el('p', { class: 'tr-note' });
  const answers = el('ul', { class: 'tr-answers' });
  const every = el('details', {}, el('summary', {}, 'Expected answers'), answers);
  const node = section('Comparisons', list, chosen, every);
  const entries = new Map(); // by comparison: its button, its line among the answers, and the same for the chosen one
  let drawn = null;

  function draw() {
    const titles = new Map([...tray.examples.values()].map((example) => [example.key, example.title]));
    entries.clear();
    tray.comparisons.forEach((one) => entries.set(one.key, createEntry(tray, one, titles)));
    list.replaceChildren(...[...entries.values()].map(({ item }) => item));
    answers.replaceChildren(...[...entries.values()].map(({ line }) => line));
    node.hidden = entries.size === 0;
  }

  function refresh() {
    if (drawn !== tray.examples) {
      drawn = tray.examples;
      draw();
    }
    const keys = exampleKeys(tray.inputs)?.join();
    let current = null;
    for (const one of tray.comparisons) {
      const isChosen = keys === one.inputs.join() && tray.mode === one.mode;
      entries.get(one.key).button.setAttribute('aria-pressed', String(isChosen));
      if (isChosen) current = one;
    }
    say(chosen, current?.lesson ?? '');
    chosen.hidden = !current;
    arrange(chosen.parentElement, [list, ...(current ? [entries.get(current.key).above] : []), chosen, every]);
  }

  return { node, refresh };
}

function createEntry(tray, one, titles) {
  const button = press(one.title, () => tray.take(one), { 'data-key': one.key, dir: 'auto' });
  const expected = `Expected: ${sentence(expectedAnswer(one, titles))}`;
  const line = (title) => el('p', { class: 'tr-expected', dir: 'auto' }, title && el('b', {}, title), title && ' ', expected);
  return { button, item: el('li', {}, button), line: el('li', {}, line(one.title)), above: line('') };
}
