/** Examples to try with, and where they come from. */

import { el } from '../../../js/dom.js';
import { section, unseen } from '../parts.js';
import { sentence } from '../words.js';

/** What an example's drag carries: its key. */
export const EXAMPLE = 'application/x-likeness-example';

/** Title, credit and licence of an example in one line. */
const credited = ({ title, credit, licence }) => [title, credit, licence].filter(Boolean).map(sentence).join(' ');

export function createExamples(tray) {
  const strip = el('div', { class: 'tr-strip', role: 'group', 'aria-label': 'Examples: press one to add it' });
  const list = el('ul');
  const credits = el('details', { class: 'tr-credits' }, el('summary', {}, 'Credits'), list);
  const node = section('Inputs', strip, credits);
  let drawn = null;

  function draw() {
    const examples = [...tray.examples.values()];
    strip.replaceChildren(...examples.map((example) => chip(tray, example)));
    list.replaceChildren(...examples.map(credit));
    node.hidden = examples.length === 0;
  }

  function refresh() {
    if (drawn !== tray.examples) {
      drawn = tray.examples;
      draw();
    }
  }

  return { node, refresh };
}

function chip(tray, example) {
  const { key, title, modality, synthetic } = example;
  const words = modality === 'text';
  const inside = words ? el('q', { dir: 'auto' }, example.text) : el('img', {
    src: tray.server.url(example.thumbnail), alt: '', draggable: 'false', loading: 'lazy', decoding: 'async', width: '64', height: '56' });
  return el('button', {
    type: 'button', class: `tr-example${words ? ' tr-words' : ''}`, 'data-key': key, title: credited(example), draggable: 'true', onclick: () => tray.addExample(key),
    ondragstart: (event) => {
      event.dataTransfer.setData(EXAMPLE, key);
      event.dataTransfer.effectAllowed = 'copy';
    },
  }, inside, unseen(words ? '' : title), synthetic && el('small', {}, 'drawn'));
}

function credit({ title, credit: by, licence, source, synthetic }) {
  const rights = [by, licence].filter(Boolean).join(', ');
  return el('li', {}, el('b', { dir: 'auto' }, title), synthetic && ' (drawn)', rights && `: ${rights}`, source && '. ', ...origin(source ?? ''));
}

/** Where an example comes from: its words, with web addresses as links. */
function origin(source) {
  return source.split(/(https?:\/\/\S+)/).map((part, index) => (index % 2 && URL.canParse(part)
    ? el('a', { href: part }, part) : part));
}
