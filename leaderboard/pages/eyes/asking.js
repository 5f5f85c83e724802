/** One question a screen: its images side by side, keys and buttons to answer it, and how far the rater is. */

import { button, el } from '../../js/dom.js';
import { AHEAD, FIRST_REPORT } from './visit.js';

const UNSEEN = 300; // ms after a question's first frame in which nobody can have looked at it
const KEYS = { ArrowLeft: 'left', ArrowRight: 'right', ArrowDown: 'neither', Backspace: 'undo' };
const writes = (node) => Boolean(node.closest?.('input, textarea, select, dialog'));

export class Asking {
  /** `address(number)` is the address of an image; `changed(judgment)` is called with each answer, `report` and `save` by their buttons. */
  constructor(visit, { address, changed, report, save }) {
    Object.assign(this, { visit, address, changed, ahead: new Map(), current: null, blind: false, since: 0, turn: 0 });
    this.title = el('h2', { tabindex: '-1' }, visit.asks);
    this.count = el('span', { class: 'pg-num', role: 'status' });
    this.bar = el('progress', { 'aria-label': 'Judgments until the next step' });
    this.text = el('p', { class: 'ey-text', dir: 'auto' });
    this.reference = el('span', { class: 'ey-image' });
    this.sides = { left: el('span', { class: 'ey-image' }), right: el('span', { class: 'ey-image' }) };
    const once = (name) => (event) => event.detail > 1 || this.act(name); // a double click answers once
    const side = (name, words, arrow) => button('', once(name), { class: 'ey-side', 'data-side': name, title: `${words} (${arrow})` });
    const [left, right] = [side('left', 'Left', '←'), side('right', 'Right', '→')];
    left.append(this.sides.left, el('span', {}, '← Left'));
    right.append(this.sides.right, el('span', {}, 'Right →'));
    const press = (text, act) => button(text, act, { class: 'ey-button' });
    this.undo = press('Undo ⌫', () => this.act('undo'));
    this.answer = press('Show the answer', () => this.answer.getAttribute('aria-disabled') || report());
    this.node = el('section', { class: 'ey-ask', 'aria-label': 'Question', 'data-kind': visit.study.kind },
      el('header', {}, this.title, this.count, this.bar), this.text,
      el('div', { class: 'ey-images' }, visit.study.kind === 'image' && el('div', { class: 'ey-reference' }, this.reference, el('span', {}, 'Reference')), left, right),
      el('footer', {}, press('Cannot tell ↓', once('neither')), this.undo, this.answer, press('Save', save)));
    document.addEventListener('keydown', this.key = (event) => this.#key(event));
  }

  /** Shows the question at the visit's place, as soon as its images are decoded; it takes answers UNSEEN later. */
  async show() {
    const { visit } = this;
    const place = visit.place;
    this.turn += 1;
    const { turn } = this;
    this.current = null;
    delete this.node.dataset.answers;
    this.#progress();
    const asked = visit.asked(place);
    if (!asked) return false;
    const images = await this.#ready(place);
    if (this.turn !== turn) return true;
    if (images.reference) this.reference.replaceChildren(images.reference);
    if (visit.study.kind === 'text') this.text.textContent = visit.study.contents[asked.reference];
    this.sides.left.replaceChildren(images.left);
    this.sides.right.replaceChildren(images.right);
    this.blind = Object.values(images).some((image) => image.tagName !== 'IMG');
    if (this.blind) this.ahead.delete(place); // the next look may find the server back
    this.node.dataset.place = String(place);
    requestAnimationFrame(() => {
      const since = performance.now();
      setTimeout(() => {
        if (this.turn !== turn) return;
        Object.assign(this, { current: asked, since });
        this.node.dataset.answers = String(place);
      }, UNSEEN);
    });
    for (let next = place + 1; next <= place + AHEAD; next += 1) this.#ready(next);
    for (const old of this.ahead.keys()) if (old < place - 1 || old > place + AHEAD) this.ahead.delete(old);
    return true;
  }

  /** Ends listening to keys. */
  close() {
    document.removeEventListener('keydown', this.key);
  }

  act(name) {
    const { current, visit } = this;
    if (name === 'undo') {
      const undone = visit.undo();
      if (undone) this.changed(undone);
    } else if (this.blind && name !== 'neither') this.show();
    else if (current) {
      const choice = { left: current.side, right: 1 - current.side, neither: null }[name];
      this.changed(visit.answer(choice, Math.round(performance.now() - this.since) / 1000));
    }
  }

  #key(event) {
    const act = KEYS[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey || writes(event.target) || !this.node.isConnected) return;
    event.preventDefault(); // the page would scroll
    if (!event.repeat) this.act(act);
  }

  /** The decoded images of a question, which is asked now or soon. */
  #ready(place) {
    const asked = this.visit.asked(place);
    if (asked && !this.ahead.has(place)) {
      const shown = { reference: this.visit.study.kind === 'image' ? asked.reference : null, left: asked.left, right: asked.right };
      this.ahead.set(place, Promise.all(Object.entries(shown).filter(([, at]) => at !== null)
        .map(async ([name, at]) => [name, await this.#image(at)])).then(Object.fromEntries));
    }
    return this.ahead.get(place);
  }

  async #image(at) {
    const image = el('img', { alt: '', src: this.address(at), draggable: 'false' });
    try {
      await image.decode();
      return image;
    } catch {
      return el('span', { class: 'pg-quiet' }, 'This image cannot be shown.');
    }
  }

  #progress() {
    const { count, goal, place, study } = this.visit;
    Object.assign(this.bar, { max: goal, value: place });
    this.count.textContent = `${place} of ${goal} answers to the ${count < FIRST_REPORT ? 'first' : 'next'} result`;
    if (count < Math.min(FIRST_REPORT, study.questions.length)) this.answer.setAttribute('aria-disabled', 'true');
    else this.answer.removeAttribute('aria-disabled');
    this.answer.title = this.answer.getAttribute('aria-disabled') ? `The first result needs ${goal} answers` : '';
    this.undo.disabled = place === 0;
  }
}
