/** Asks judges about a changed image, one a turn, so that other visitors come in between; and writes to the address what is shown, where the image is an example. */

import { withValues } from '../../js/address.js';
import { el, stylesheet, writeQuery } from '../../js/dom.js';
import { exampleKeys } from './tray/inputs.js';
import { enable, enabled, findTray, press, say } from './parts.js';
import { cost } from './words.js';

const OWN = ['change', 'by', 'amount'];
const REST = 400; // ms without a drag until the slower scores are made
const ABOUT = 'Judges answer in words, which takes seconds or costs the host: they are asked only when you press.';

/** Mounts the part into `root`. `trigger(name, data)` reaches Python. Hands back { show(state) } for what Python answers. */
export function mount(root, { trigger }) {
  if (!root.likenessJudging) stylesheet(new URL('./try.css', import.meta.url));
  return root.likenessJudging ??= new Judging(root, trigger);
}

class Judging {
  constructor(root, trigger) {
    // `queue` are the judges that are still to be asked; `turn` numbers the requests.
    Object.assign(this, { root, trigger, state: null, queue: [], asked: 0, turn: 0, running: false, timer: 0 });
    const [change, by, amount] = OWN.map((key) => new URLSearchParams(location.search).get(key) ?? '');
    this.link = change && by ? { change, by, amount: Number(amount || 0) } : null; // what the address shows, until it is restored
    this.cost = el('span');
    this.go = press('Ask the judges', ({ isTrusted }) => isTrusted && this.start());
    this.stop = press('Stop', () => this.end('Stopped: the judge that is answering now is the last.'), { hidden: true });
    this.bar = el('progress', { hidden: true, 'aria-label': 'Judges that have answered' });
    this.status = el('p', { role: 'status' });
    this.part = el('div', { hidden: true }, el('p', { class: 'pg-quiet' }, ABOUT),
      el('div', { class: 'tr-row' }, this.go, this.cost, this.bar, this.stop), this.status);
    root.replaceChildren(this.part);
    // A drag shows something else: no judge is asked of what was shown before, nor until the server has answered.
    document.addEventListener('input', ({ target }) => {
      if (!target.closest?.('#closer .cp-sliders')) return;
      if (this.running) this.end('Stopped: the image has changed.');
      clearTimeout(this.timer);
      enable(this.go, false);
    }, true);
    addEventListener('likeness-tray', ({ detail: { changed, empty } }) => {
      if (root.isConnected && this.state?.view && (changed || empty)) this.write(null); // the tray is empty before it opens, too
    });
  }

  /** Takes over what Python answers. */
  show(state) {
    if (state.turn === null) {
      this.state = state;
      this.renewed(state);
    } else if (state.turn === this.turn && this.running) this.answered(state);
    // An answer that comes late, to what is no longer shown, stays hidden.
    const table = document.getElementById('rated');
    if (table) table.hidden = !this.state?.view;
  }

  /** Something else is shown than before. */
  renewed({ view, judges = [], message, complete }) {
    clearTimeout(this.timer);
    if (view && !complete) this.timer = setTimeout(() => this.trigger('settle', {}), REST);
    this.set(false);
    enable(this.go, true);
    this.part.hidden = !judges.length;
    say(this.cost, judges.length ? cost(judges) : '');
    say(this.status, message);
    if (view) this.write(view);
    else if (this.link) this.restore();
    this.root.dataset.shown = view ? `${view.by} ${view.amount}` : '';
    this.root.dataset.complete = String(complete);
  }

  /** The server has answered a drag, if only with an error. */
  ready() {
    enable(this.go, true);
  }

  start() {
    if (this.running || !enabled(this.go) || !this.state?.judges?.length) return;
    this.queue = this.state.judges.map(({ key }) => key);
    this.asked = 0;
    this.bar.max = this.queue.length;
    this.set(true);
    this.next();
  }

  /** Asks the next judge. */
  next() {
    const judge = this.queue.shift();
    this.turn += 1;
    this.bar.value = this.asked;
    say(this.status, `${this.asked} of ${this.bar.max} judges have answered …`);
    this.trigger('ask', { view: this.state.view, judge, turn: this.turn, pressed: true });
  }

  answered({ message }) {
    this.asked += 1;
    if (message) this.end(message);
    else if (this.queue.length) this.next();
    else this.end(`Judges asked: ${this.asked}. Their scores are in the table.`);
  }

  end(words) {
    this.set(false);
    say(this.status, words);
  }

  set(running) {
    if (this.running && !running && document.activeElement === this.stop) this.go.focus();
    this.running = running;
    if (running && document.activeElement === this.go) setTimeout(() => this.stop.focus());
    this.go.hidden = running;
    this.stop.hidden = !running;
    this.bar.hidden = !running;
  }

  /** Shows what the address of the page names, once; no judge is asked by that. */
  restore() {
    const { change, by, amount } = this.link;
    this.link = null;
    const image = (exampleKeys(findTray()?.inputs ?? []) ?? []).indexOf(change);
    if (image >= 0) this.trigger('restore', { view: { image, by, amount } });
    else this.write(null);
  }

  /** Writes to the address what is shown of an example; nothing of anything else. */
  write(view) {
    this.link = null;
    const key = view && exampleKeys(findTray()?.inputs ?? [])?.[view.image];
    writeQuery(withValues(location.search, { change: key, by: key && view.by, amount: key && String(view.amount) }));
  }
}
