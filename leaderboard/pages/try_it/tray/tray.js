/** The tray: images and texts to compare, the mode, the models. `mount` is all that the page calls. */

import { createNotice, debounce, el, stylesheet, writeQuery } from '../../../js/dom.js';
import { createActions } from './actions.js';
import { open, write } from './address.js';
import { listen } from './drop_paste.js';
import { createExamples } from './examples.js';
import { counts, exampleKeys, kinds, labels, MOST, moved, obstacle, sent } from './inputs.js';
import { createModels, selected, written } from './models.js';
import { createModes } from './modes.js';
import { section, unseen } from '../parts.js';
import { createReady } from './ready.js';
import { Server } from '../../../js/server.js';
import { createSlots } from './slots.js';
import { Uploads, written as text } from './uploads.js';
import { QUESTIONS } from '../words.js';

const WAIT = 150;

/** Mounts the tray into `root`. `trigger('compare', payload)` reaches Python, or `trigger('download', payload)` where weights must come first; `appRoot` is the app's address. Mounting twice does nothing. */
export function mount(root, { trigger, root: appRoot }) {
  if (root.dataset.mounted) return null;
  root.dataset.mounted = 'true';
  const tray = new Tray(root, trigger, new Server(appRoot));
  root.likenessTray = tray; // its session, models and examples, for other parts of the page
  tray.start();
  return tray;
}

class Tray {
  constructor(root, trigger, server) {
    Object.assign(this, { root, trigger, server, inputs: [], last: 0, examples: new Map(), comparisons: [], plan: null, problem: '' });
    // `chosenMode` is the visitor's (or the address's) choice, '' where the inputs decide; `mode` is the current one.
    Object.assign(this, { chosenMode: '', mode: '', question: QUESTIONS[0], decisions: new Map(), untouched: true });
    // `opening`: the mode that the address asks for, while the tray holds the comparison that the page opens with; null later.
    this.opening = null;
    // `grown`: inputs were added since the last request; `waiting`: how Compare was called meanwhile; `fetching`: weights may have arrived; `asked`: questions so far.
    Object.assign(this, { grown: false, waiting: null, fetching: false, asked: 0 });
    this.writeLater = debounce(() => this.writeUrl(), WAIT);
    this.askLater = debounce(() => this.ask(), WAIT);
    this.uploads = new Uploads(this);
    this.compared = null; // what was last sent for comparison, as text
    this.notice = createNotice({ notice: 'tr-notice', close: 'tr-icon', action: 'tr-button' });
    this.live = unseen('', { role: 'status' });
    this.parts = [createSlots, createModes, createActions, createModels, createReady, createExamples].map((make) => make(this));
    const [slots, modes, actions, models, ready, examples] = this.parts;
    Object.assign(this, { slots, ready });
    // Open until something is compared or the visitor gives something; then they may open it again.
    this.starters = el('details', { class: 'tr-starters', open: true }, el('summary', {}, 'Examples and ready comparisons'), ready.node, examples.node);
    this.nodes = [slots.node, this.notice.node, section('Question', el('div', { class: 'tr-row tr-ask' }, ...modes.nodes, ...actions.nodes)), models.node, this.starters, this.live];
    root.dataset.ready = 'false';
    this.refresh();
  }

  async start() {
    listen(this);
    const styled = stylesheet(new URL('../try.css', import.meta.url));
    await open(this, () => styled.then(() => this.root.replaceChildren(...this.nodes)));
  }

  /** An example as an input. */
  exampleInput(key) {
    const example = this.examples.get(key);
    const id = String(++this.last);
    if (example.modality === 'text') return { id, kind: 'text', text: example.text, example: { key, text: example.text } };
    return { ...example, id, kind: 'example' };
  }

  /** Adds inputs, the first in place of the input `over` where that is given; those beyond the limit are ignored. The visitor's own replace the comparison that the page opens with, and anything replaces texts that are still blank. */
  add(inputs, over = null) {
    const added = inputs.map((input) => ({ ...input, id: String(++this.last) }));
    const index = over === null ? -1 : this.inputs.findIndex(({ id }) => id === over);
    const fresh = this.opening !== null && index < 0 && exampleKeys(inputs) === null;
    if (fresh) this.chosenMode = this.opening;
    let all = [...(fresh ? [] : this.inputs.filter(({ kind, text: words }) => kind !== 'text' || words.trim())), ...added];
    if (index >= 0) all = [...this.inputs.toSpliced(index, 1, added[0]), ...added.slice(1)];
    const most = all.slice(0, MOST);
    if (all.length > MOST) this.notice.say(`At most ${MOST} inputs can be compared at once: ${all.length - MOST} ignored. Remove one first.`);
    else this.notice.clear();
    this.grown = true;
    this.settle(most);
    return added.filter((input) => most.includes(input));
  }

  addExample(key, over = null) {
    const [added] = this.add([this.exampleInput(key)], over);
    if (added) this.announce(`${this.label(added.id)}: ${this.examples.get(key).title}`);
  }

  /** Adds a blank text and returns its id; where it would be alone, two, since one text is compared with nothing. */
  write() {
    return this.add(this.opening !== null || !this.inputs.length ? [text(''), text('')] : [text('')])[0]?.id;
  }

  /** Fills the tray with a ready comparison. */
  take(comparison) {
    Object.assign(this, { chosenMode: comparison.mode, mode: comparison.mode, question: comparison.question || QUESTIONS[0] });
    this.notice.clear();
    this.settle(comparison.inputs.map((key) => this.exampleInput(key)), { always: true });
    this.announce(`“${comparison.title}” is in the tray`);
  }

  remove(id) {
    const name = this.label(id);
    this.settle(this.inputs.filter((input) => input.id !== id));
    this.announce(`${name} removed`);
  }

  move(id, index) {
    this.settle(moved(this.inputs, id, index));
    this.announce(`Moved to position ${this.inputs.findIndex((input) => input.id === id) + 1} of ${this.inputs.length}`);
  }

  /** Changes one input; one that was removed meanwhile stays so. */
  patch(id, change) {
    if (this.inputs.some((input) => input.id === id)) this.settle(this.inputs.map((input) => (input.id === id ? { ...input, ...change } : input)));
  }

  /** Sets the inputs; asks the server again what fits them where their kinds changed, or `always`. */
  settle(inputs, { always = false } = {}) {
    const before = kinds(this.inputs).join();
    const remaining = new Set(inputs.map(({ id }) => id));
    this.inputs.filter(({ id }) => !remaining.has(id)).forEach(({ id }) => this.uploads.stop(id));
    if (!inputs.length) this.starters.open = true;
    else if (!this.own() && exampleKeys(inputs) === null) this.starters.open = false;
    this.inputs = inputs;
    this.touched();
    if (always || kinds(inputs).join() !== before) this.askSoon();
    else this.refresh();
  }

  /** Sets the mode or the question. */
  choose(choice) {
    Object.assign(this, choice);
    if (choice.chosenMode) this.mode = choice.chosenMode;
    this.touched();
    this.askSoon();
  }

  decide(key, ticked) {
    this.decisions.set(key, ticked);
    this.touched();
    this.refresh();
  }

  touched() {
    Object.assign(this, { untouched: false, opening: null });
    this.writeLater();
  }

  askSoon() {
    this.askLater();
    this.refresh();
  }

  /** Asks the server which modes and models fit; an outdated answer is dropped. */
  async ask() {
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    this.refresh();
    const query = new URLSearchParams({ kinds: kinds(this.inputs).join(), mode: this.chosenMode, question: this.question });
    let plan = null;
    let problem = '';
    try {
      plan = await this.server.get(`live/plan?${query}`, request.signal);
    } catch (error) {
      problem = error.message;
    }
    if (request.signal.aborted) return;
    this.request = null;
    this.problem = problem;
    if (plan) {
      Object.assign(this, { plan, mode: plan.mode });
      if (this.chosenMode !== plan.mode) this.chosenMode = '';
      if (this.lead()) return;
    }
    this.refresh();
    this.writeLater();
    if (this.waiting) this.compare(this.waiting);
  }

  /** Where no mode fits the new inputs but one would with another reference, as for a text after two images, moves it to the front. */
  lead() {
    const { plan, inputs, grown } = this;
    this.grown = false;
    if (plan.mode || !grown || !(plan.reference > 0)) return false;
    const { id } = inputs.filter(counts)[plan.reference];
    const name = this.label(id);
    this.move(id, 0);
    this.askLater.now();
    this.announce(`${name} is the reference now; the others are compared with it`);
    return true;
  }

  refresh() {
    const { root, inputs } = this;
    this.parts.forEach((part) => part.refresh());
    root.dataset.mode = this.mode;
    root.dataset.count = String(inputs.length);
    root.dataset.busy = String(this.pending() || inputs.some(({ state }) => state === 'sending'));
    this.tellPage();
  }

  /** What a comparison would ask, as text. */
  content() {
    return JSON.stringify([this.inputs.map(sent), this.mode, this.question]);
  }

  /** Tells the page whether its answers are those to what is in the tray now. */
  tellPage() {
    const changed = this.compared !== null && this.compared !== this.content();
    dispatchEvent(new CustomEvent('likeness-tray', { detail: { changed, empty: this.inputs.length === 0 } }));
  }

  pending() {
    return Boolean(this.request) || this.askLater.waiting();
  }

  label(id) {
    return labels(this.inputs, this.mode)[this.inputs.findIndex((input) => input.id === id)] ?? '';
  }

  models() {
    return selected(this.plan?.models ?? [], this.decisions);
  }

  /** Why nothing can be compared now, as a sentence; '' where it can, or while the server has not answered. */
  reason() {
    const inside = obstacle(this.inputs, this.mode);
    if (inside || this.problem) return inside || this.problem;
    if (this.pending()) return '';
    if (!this.plan) return 'Asking the server which models can answer';
    if (this.plan.needs || !this.mode) return this.plan.needs || 'Add one more input';
    if (this.models().length) return '';
    return this.plan.models.some(({ state }) => state !== 'impossible') ? 'Tick at least one model' : 'No model can answer this';
  }

  /** Whether weights of a ticked model must be downloaded first. */
  absent() {
    const models = this.models();
    return this.plan.models.some(({ key, state }) => state === 'download' && models.includes(key));
  }

  /** The ticked models that answer through the host's endpoint. */
  judges() {
    const models = this.models();
    return (this.plan?.models ?? []).filter(({ key, requests }) => requests > 0 && models.includes(key));
  }

  /** Asks the ticked models. Judges are asked only where the visitor `pressed` for it: each question costs the host, so no link may start one. What the page is `opening` with leaves the address as it is. */
  compare({ pressed = false, opening = false } = {}) {
    this.waiting = this.pending() && !this.problem ? { pressed, opening } : null;
    if (this.waiting) return;
    const reason = this.reason();
    if (reason) {
      this.announce(reason);
      return;
    }
    const judges = this.judges().map(({ key }) => key);
    const unasked = pressed ? [] : judges;
    const models = this.models().filter((key) => !unasked.includes(key));
    if (!models.length) return;
    const absent = this.absent();
    if (absent && this.fetching) { // the download may be complete by now
      Object.assign(this, { fetching: false, waiting: { pressed, opening } });
      this.ask();
      return;
    }
    this.fetching = absent;
    this.compared = this.content();
    this.starters.open = false;
    if (!opening) {
      this.untouched = false;
      this.writeLater.now();
    }
    this.tellPage();
    dispatchEvent(new CustomEvent('likeness-asked', { detail: { models: models.length, asked: ++this.asked, opening } }));
    this.trigger(absent ? 'download' : 'compare', {
      session: this.server.session, inputs: this.inputs.map(sent), mode: this.mode,
      question: this.mode === 'quality' ? this.question : '', models, judges, pressed, asked: this.asked,
      open: ['agree', 'perturb'].filter((id) => document.querySelector(`#${id} .label-wrap.open`)),
    });
  }

  clear() {
    this.chosenMode = '';
    this.notice.clear();
    this.settle([]);
    this.server.forget();
    this.announce('All inputs are removed');
    this.slots.focus();
  }

  /** The query string of what is shown: inputs only where all of them are examples. */
  query() {
    return write(location.search, {
      mode: this.chosenMode, inputs: exampleKeys(this.inputs), models: this.plan ? written(this.plan.models, this.decisions) : null,
      question: this.mode === 'quality' ? this.question : QUESTIONS[0],
    });
  }

  writeUrl() {
    if (this.root.isConnected && !this.untouched) writeQuery(this.query());
  }

  link() {
    const query = this.query();
    return new URL(`${location.pathname}${query ? `?${query}` : ''}`, location.href).href;
  }

  /** Whether something of the visitor's own is in the tray. */
  own() {
    return exampleKeys(this.inputs) === null;
  }

  announce(text) {
    this.live.textContent = text;
  }
}
