/** The answer to a question just asked: it scrolls into view, is announced, and takes the focus from the button. */

const MOVED = ['wheel', 'touchmove', 'keydown', 'pointerdown']; // a visitor who goes on elsewhere is left there

/** `element` holds the answers. */
export class Arrival {
  constructor(element) {
    Object.assign(this, { element, asked: null, before: null });
    addEventListener('likeness-asked', () => this.ask());
    MOVED.forEach((type) => addEventListener(type, () => {
      if (this.asked) this.asked.stays = false;
    }, { passive: true, capture: true }));
  }

  ask() {
    this.asked = { stays: true, focus: document.activeElement, shown: false };
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
    if (this.asked.stays && (done || !this.asked.shown)) show(result, done ? 'start' : 'nearest');
    if (!this.asked.shown || done) announce(spoken(result));
    this.asked.shown = true;
    if (!done) return;
    const { focus } = this.asked;
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

function show(node, block) {
  const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth';
  node.scrollIntoView({ behavior, block });
}

/** Through the tray's live region, which is on the page from the start: one that arrives with its text may stay unread. */
function announce(text) {
  document.querySelector('.likeness-tray')?.likenessTray?.announce(text);
}
