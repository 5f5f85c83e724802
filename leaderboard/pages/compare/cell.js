/** One slot with its input: an image with what became of it, or a text to edit. */

import { el } from '../../js/dom.js';
import { arrange, enable, enabled, press, say } from './parts.js';
import { size } from './words.js';

const LONG = 2000; // characters, beyond which no text encoder reads to the end

/** What a slot's drag carries: the id of its input. */
export const SLOT = 'application/x-likeness-slot';

export function createCell(tray, { id, kind }) {
  const name = el('b', { class: 'tr-letter' });
  const back = press('‹', () => step(-1), { class: 'tr-icon' });
  const on = press('›', () => step(1), { class: 'tr-icon' });
  const remove = press('×', () => tray.remove(id), { class: 'tr-icon' });
  const lead = press('Make reference', () => tray.move(id, 0), { class: 'tr-link' });
  const head = el('div', { class: 'tr-head', draggable: 'true', ondragstart: drag }, name, back, on, remove);
  const body = kind === 'text' ? createText(tray, id) : createImage(tray, id, drag);
  const node = el('li', { class: 'tr-slot', 'data-id': id, 'data-kind': kind }, head, ...body.nodes, lead);
  let place = 0;

  function step(by) {
    if (!enabled(by < 0 ? back : on)) return;
    tray.move(id, place + by);
  }

  function drag(event) {
    event.dataTransfer.setData(SLOT, id);
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setDragImage(node, 20, 20);
  }

  function refresh(input, { label, place: now, last, choice }) {
    place = now;
    say(name, label);
    node.setAttribute('aria-label', label);
    node.dataset.state = input.state ?? 'ready';
    for (const [button, words] of [[back, 'Move %s to the left'], [on, 'Move %s to the right'], [remove, 'Remove %s'], [lead, 'Make %s the reference']]) {
      const text = words.replace('%s', label === 'Reference' ? 'the reference' : label);
      button.setAttribute('aria-label', text);
      button.title = text;
    }
    back.hidden = on.hidden = last === 0;
    enable(back, now > 0);
    enable(on, now < last);
    lead.hidden = !choice || now === 0;
    body.refresh(input, label);
  }

  return { node, remove, refresh, focus: () => (body.focus ? body.focus() : remove.focus()) };
}

function createText(tray, id) {
  const area = el('textarea', { class: 'tr-text', dir: 'auto', rows: '5', placeholder: 'Write or paste a text', 'data-gramm': 'false',
    oninput: () => tray.patch(id, { text: area.value }) });
  const note = el('p', { class: 'tr-note' });
  return {
    nodes: [el('div', { class: 'tr-shown' }, area), note],
    focus: () => area.focus(),
    refresh({ text, example }, label) {
      area.setAttribute('aria-label', `Text of ${label}`);
      if (area.value !== text) area.value = text;
      say(note, text.length > LONG ? 'long: most models read only the beginning' : example?.text === text ? 'example' : '');
    },
  };
}

function createImage(tray, id, drag) {
  const image = el('img', { alt: '', draggable: 'false', decoding: 'async', onerror: () => image.classList.add('tr-blind'), onload: () => image.classList.remove('tr-blind') });
  const figure = el('div', { class: 'tr-shown', draggable: 'true', ondragstart: drag });
  const words = el('p', { class: 'tr-error', dir: 'auto' });
  const again = press('Try again', () => tray.uploads.again(tray.inputs.find((input) => input.id === id)), { class: 'tr-link' });
  const bar = el('progress', { 'aria-label': 'Sending' });
  const title = el('p', { class: 'tr-title', dir: 'auto' });
  const note = el('p', { class: 'tr-note' });

  function refresh(input) {
    const { state = 'ready', error, width, height } = input;
    const source = input.preview ?? (input.thumbnail ? tray.server.url(input.thumbnail) : '');
    if (source && image.getAttribute('src') !== source) image.setAttribute('src', source);
    image.alt = input.title;
    title.title = input.title;
    const broken = state === 'failed' || state === 'gone';
    say(words, broken ? error : '');
    again.hidden = !input.again;
    arrange(figure, broken ? [words, again] : state === 'sending' ? [image, bar] : [image]);
    say(title, input.title);
    const facts = [input.synthetic && 'drawn', width && height && `${width} × ${height}`, input.note].filter(Boolean);
    say(note, state === 'sending' ? `sending ${size(input.bytes)}…` : broken ? '' : facts.join(' · '));
  }

  return { nodes: [figure, title, note], refresh };
}
