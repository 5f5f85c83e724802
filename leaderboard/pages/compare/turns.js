/** Work that the server does a few seconds at a time: requests each turn, takes over what comes, and cancels. */

import { el } from '../../js/dom.js';
import { attention, show } from '../../js/reveal.js';
import { press, say } from './parts.js';

const SLOW = 15_000; // ms without an answer, after which the page says so

/**
 * The state of one piece of work, shown in `root.dataset.state`: `idle`, `sending` or `running`. A subclass has
 * `session()`, and says in `advanced(state)`, `finished(state)` and `changed()` what each step shows.
 */
export class Turns {
  constructor(root, trigger, { progress, cancelled }) {
    // `turn` numbers the requests; answers to requests before `since` belong to abandoned work.
    Object.assign(this, { root, trigger, cancelled, turn: 0, since: 0, running: false, begun: false, sending: null, timer: 0, visitor: null });
    this.cancel = press('Cancel', () => this.stop(), { class: 'bt-button', hidden: true });
    this.bar = el('progress', { hidden: true, 'aria-label': progress });
    this.count = el('span', { class: 'bt-count' });
    this.status = el('p', { role: 'status' });
  }

  /** Forgets the last work before the next is sent; hands back a signal that Cancel aborts. */
  open() {
    this.begun = false;
    this.visitor?.end();
    this.visitor = attention();
    say(this.count, '');
    this.set('sending');
    this.sending = new AbortController();
    return this.sending.signal;
  }

  /** Starts the work, once what it needs is sent. */
  begin(name, data) {
    this.tell(name, data);
    this.since = this.turn;
  }

  /** Takes over what Python answers. */
  show(state) {
    if (!this.running || state.turn < this.since) {
      if (!this.running && state.state === 'running') this.tell('stop'); // it began after all
      return;
    }
    this.begun = true;
    if (state.state === 'running') {
      this.set('running');
      this.advanced(state);
      this.next(state.pause ?? 0);
    } else this.finished(state);
  }

  /** Ends what runs; what is finished of it comes back. */
  stop() {
    this.sending?.abort();
    if (!this.begun) {
      this.since = this.turn + 1;
      this.end('Cancelled before it started.');
      return;
    }
    say(this.status, 'Stopping …');
    this.tell('stop');
    this.since = this.turn;
  }

  /** Requests the next turn, after a pause of some seconds where the server says so. */
  next(pause) {
    const turn = this.turn;
    clearTimeout(this.timer);
    if (!pause) this.tell('turn');
    else this.timer = setTimeout(() => this.running && this.turn === turn && this.tell('turn'), pause * 1000);
  }

  tell(name, data = {}) {
    this.turn += 1;
    this.root.dataset.turn = String(this.turn);
    this.trigger(name, { session: this.session(), turn: this.turn, ...data });
    clearTimeout(this.timer);
    const words = `Still waiting: other visitors are ahead of you, or the server does not answer. ${this.cancelled}`;
    if (this.running) this.timer = setTimeout(() => say(this.status, words), SLOW);
  }

  /** Brings what has come into view, where the visitor still waits for it. */
  arrived(node) {
    if (this.visitor?.stays()) show(node);
    this.visitor?.end();
  }

  end(words) {
    this.set('idle');
    say(this.status, words);
  }

  set(state) {
    if (this.root.dataset.state === state) return;
    this.root.dataset.state = state;
    this.running = state !== 'idle';
    clearTimeout(this.timer);
    this.changed();
    this.cancel.hidden = !this.running;
    this.bar.hidden = state !== 'running';
    if (!this.running) say(this.count, '');
  }
}
