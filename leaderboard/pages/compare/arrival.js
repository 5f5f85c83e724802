/** The answer to a question just asked: it scrolls into view, is announced, and takes the focus from the button. */

import { attention, show } from '../../js/reveal.js';

/** `element` holds the answers. */
export class Arrival {
  constructor(element) {
    Object.assign(this, { element, asked: null, before: null });
    addEventListener('likeness-asked', () => this.ask());
  }

  ask() {
    this.asked?.visitor.end();
    this.asked = { visitor: attention(), focus: document.activeElement, shown: false };
    this.before = this.current();
  }

  current() {
    return this.element.querySelector('.cp-result, .pg-message');
  }

  /** To be called whenever the markup has changed. */
  look() {
    const result = this.current();
    if (!this.asked || !result || result === this.before) return;
    const done = result.dataset.done !== '';
    if (this.asked.visitor.stays() && (done || !this.asked.shown)) show(result, { block: done ? 'start' : 'nearest' });
    if (!this.asked.shown || done) announce(spoken(result));
    this.asked.shown = true;
    if (!done) return;
    const { focus, visitor } = this.asked;
    visitor.end();
    if (focus !== document.body && (document.activeElement === focus || document.activeElement === document.body)) {
      result.tabIndex = -1;
      result.focus({ preventScroll: true });
    }
    this.asked = null;
  }
}

/** What is announced of an answer. In blind mode nothing that names a model or an answer. */
export function spoken(result) {
  if (result.dataset.state === 'blind') {
    return result.dataset.done ? 'The answers are ready. Choose your own first, and they are shown.' : 'The models are answering.';
  }
  return (result.querySelector('.pg-lead') ?? result).textContent.trim();
}

/** Through the tray's live region, which is on the page from the start: one that arrives with its text may stay unread. */
function announce(text) {
  document.querySelector('.likeness-tray')?.likenessTray?.announce(text);
}
