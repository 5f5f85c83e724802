/** The row of slots: one for each input, and an empty one at the end. */

import { el } from '../../../js/dom.js';
import { labels, MOST } from './inputs.js';
import { arrange, enable, enabled, press, say } from '../parts.js';
import { size } from '../words.js';

const LONG = 2000; // characters, beyond which no text encoder reads to the end

/** What a slot's drag carries: the id of its input. */
export const SLOT = 'application/x-likeness-slot';

export function createSlots(tray) {
  const empty = createEmpty(tray, { wrote: (id) => cells.get(id)?.focus() });
  const node = el('ol', { class: 'tr-slots', role: 'list', 'aria-label': 'Inputs' });
  const cells = new Map();

  function refresh() {
    const { inputs, mode } = tray;
    const names = labels(inputs, mode);
    const lost = [...cells.keys()].filter((id) => !inputs.some((input) => input.id === id));
    const orphan = lost.some((id) => cells.get(id).node.contains(document.activeElement));
    lost.forEach((id) => cells.delete(id));
    inputs.forEach((input, index) => {
      if (!cells.has(input.id)) cells.set(input.id, createCell(tray, input));
      // Where no mode fits, another reference may make one fit.
      const choice = mode === 'choice' || (mode === '' && inputs.length > 2);
      cells.get(input.id).refresh(input, { label: names[index], index, last: inputs.length - 1, choice });
    });
    arrange(node, [...inputs.map(({ id }) => cells.get(id).node), ...(inputs.length < MOST ? [empty.node] : [])]);
    if (orphan) focus();
  }

  /** Moves the focus after its element was removed: to the last input's Remove button, or into the empty slot. */
  function focus() {
    const last = tray.inputs.at(-1);
    if (last) cells.get(last.id).remove.focus();
    else empty.focus();
  }

  return { node, refresh, focus };
}

/** One slot with its input: an image and its state, or a text to edit. */
function createCell(tray, { id, kind }) {
  const name = el('b', { class: 'tr-letter' });
  const back = press('‹', () => step(-1), { class: 'tr-icon' });
  const on = press('›', () => step(1), { class: 'tr-icon' });
  const remove = press('×', () => tray.remove(id), { class: 'tr-icon' });
  const lead = press('Make reference', () => tray.move(id, 0), { class: 'tr-link' });
  const head = el('div', { class: 'tr-head', draggable: 'true', ondragstart: drag }, name, back, on, remove);
  const body = kind === 'text' ? createText(tray, id) : createImage(tray, id, drag);
  const node = el('li', { class: 'tr-slot', 'data-id': id, 'data-kind': kind }, head, ...body.nodes, el('div', { class: 'tr-under' }, body.note, lead));
  let index = 0;

  function step(by) {
    if (!enabled(by < 0 ? back : on)) return;
    tray.move(id, index + by);
  }

  function drag(event) {
    event.dataTransfer.setData(SLOT, id);
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setDragImage(node, 20, 20);
  }

  function refresh(input, { label, index: now, last, choice }) {
    index = now;
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
    nodes: [el('div', { class: 'tr-shown' }, area)],
    note,
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

  return { nodes: [figure, title], note, refresh };
}

/** The empty slot: choose a file (on a phone also from its camera), or write a text. `wrote(id)` is called once a new text is in the tray. */
function createEmpty(tray, { wrote }) {
  const files = el('input', { type: 'file', accept: 'image/png,image/jpeg,image/webp,image/gif,text/plain', multiple: true, class: 'pg-unseen', tabindex: '-1', 'aria-label': 'Image files', onchange: () => {
    tray.uploads.take(files.files);
    files.value = '';
  } });
  const choose = press('Choose image', () => files.click());
  const write = press('Write text', () => wrote(tray.write()));
  const hint = el('p', { class: 'tr-hint' }, 'Drop, paste or choose an image, or write a text');
  const ways = el('div', { class: 'tr-ways' }, hint, el('div', { class: 'tr-buttons' }, choose, write, files));
  return { node: el('li', { class: 'tr-slot tr-empty', 'aria-label': 'Empty slot' }, ways), focus: () => choose.focus() };
}
