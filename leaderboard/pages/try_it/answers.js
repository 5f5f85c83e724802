/** Answers as they come: brought into view and announced. Answers to earlier inputs are marked once the tray changes. */

import { stylesheet } from '../../js/dom.js';
import { attention, show } from '../../js/reveal.js';
import { findTray } from './parts.js';

/** Listens within `element`, whose markup Python renews. */
export function mount(element) {
  if (element.dataset.answers) return;
  element.dataset.answers = 'true';
  stylesheet(new URL('./try.css', import.meta.url));
  const arrival = new Arrival(element);
  // Gradio keeps an element where it can, and renews its attributes.
  new MutationObserver(() => arrival.look()).observe(element, { childList: true, subtree: true, attributeFilter: ['data-asked', 'data-done'] });
  addEventListener('likeness-tray', ({ detail: { changed, empty } }) => {
    const answers = element.closest('#answers') ?? element;
    answers.toggleAttribute('data-stale', changed && !empty);
    answers.toggleAttribute('data-empty', empty);
    document.body.classList.toggle('cp-outdated', changed && !empty);
    document.body.classList.toggle('cp-emptied', empty);
  });
}

/** The answer to a question just asked: it scrolls into view, is announced, and takes the focus from the button. */
class Arrival {
  constructor(element) {
    Object.assign(this, { element, asked: null, before: null });
    addEventListener('likeness-asked', ({ detail }) => this.ask(detail));
  }

  ask({ models, asked, opening }) {
    const answers = this.element.closest('#answers') ?? this.element; // with room for them: nothing below moves
    answers.dataset.asked = '';
    answers.style.setProperty('--cp-models', models);
    this.asked?.visitor.end();
    this.asked = { number: String(asked), opening, visitor: attention(), focus: document.activeElement, shown: false };
    this.before = this.current();
  }

  current() {
    return this.element.querySelector('.cp-result, .pg-message');
  }

  /** Whether this is for the question asked last: not what stood there before, nor the late answer to an earlier one. */
  answers(result) {
    return result.matches('.pg-message') ? result !== this.before : result.dataset.asked === this.asked.number;
  }

  /** Fills in the published scores of the models that have answered. */
  async publish(result) {
    const { mode, kinds, question, asked } = result.dataset;
    const parts = [...result.querySelectorAll('.cp-published')];
    const models = parts.map((part) => part.closest('[data-model]').dataset.model);
    result.dataset.published = asked;
    if (!models.length) return;
    const query = new URLSearchParams([['mode', mode], ['kinds', kinds], ['question', question], ...models.map((model) => ['model', model])]);
    try {
      const found = await findTray().server.get(`live/published?${query}`);
      parts.forEach((part, index) => {
        const parsed = new DOMParser().parseFromString(found[models[index]], 'text/html'); // a template's own, every value in it escaped
        part.replaceWith(...parsed.body.childNodes);
      });
    } catch (error) {
      parts.forEach((part) => { part.textContent = `Published scores are missing here: ${error.message}`; });
    }
  }

  /** To be called whenever the markup has changed. */
  look() {
    const result = this.current();
    if (result?.dataset.done === 'yes' && result.dataset.published !== result.dataset.asked) this.publish(result);
    if (!this.asked || !result || !this.answers(result)) return;
    const done = result.dataset.done !== '';
    if (!this.asked.opening && this.asked.visitor.stays() && (done || !this.asked.shown)) show(result, { block: done ? 'start' : 'nearest' });
    // By the tray's live region, which is on the page from the start: one that arrives with its text may stay unread.
    if (!this.asked.shown || done) findTray()?.announce((result.querySelector('.pg-lead') ?? result).textContent.trim());
    this.asked.shown = true;
    if (!done) return;
    const { focus, opening, visitor } = this.asked;
    visitor.end();
    if (!opening && focus !== document.body && (document.activeElement === focus || document.activeElement === document.body)) {
      result.tabIndex = -1;
      result.focus({ preventScroll: true });
    }
    this.asked = null;
  }
}
