/** Many pairs at once: a CSV or ZIP goes to the server, which scores some pairs a turn, and their scores come as a CSV. */

import { el, stylesheet } from '../../js/dom.js';
import { attention, show } from '../../js/reveal.js';
import { enable, enabled, findTray, press, say } from './parts.js';
import { written } from './tray/models.js';
import { cost, left, many, sentence, size } from './words.js';

const LARGEST = 50_000_000; // bytes; the server refuses more
const SLOW = 15_000; // ms without an answer, after which the page says so
const FORMAT = 'A CSV with the columns first and second, and name if you like. A cell is a text, example:KEY for an example, or the name of an image: then put the CSV and the images in one ZIP. At most 200 pairs and 50 MB; all of it stays in memory for this visit only.';
const ABOUT = 'The models ticked above score the pairs that they can compare; you get the scores as a CSV.';

/** Mounts the part into `root`. `trigger(name, data)` reaches Python. Hands back { show(state) } for what Python answers. */
export function mount(root, { trigger }) {
  if (!root.likenessBatch) stylesheet(new URL('./try.css', import.meta.url));
  return root.likenessBatch ??= new Batch(root, trigger);
}

/** A small table of the ready comparisons: the first input of each with its others. Pure. */
export function sampled(comparisons) {
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const rows = comparisons.filter(({ mode }) => mode !== 'quality')
    .flatMap(({ title, inputs: [first, ...others] }) => others.map((other) => [title, `example:${first}`, `example:${other}`]));
  return [['name', 'first', 'second'], ...rows].map((cells) => `${cells.map(quoted).join(',')}\n`).join('');
}

/** How far the server is, in words. Pure. */
export function counted({ done, of, left: seconds, problems }) {
  return [`${done} of ${many(of, 'pair')}`, left(seconds), problems && `${problems} without a score`].filter(Boolean).join(', ');
}

/** What has come of a table in the end, as sentences. Pure. */
export function ended({ state, done, of, problems }) {
  const whole = state === 'stopped' ? `Stopped: ${done} of ${many(of, 'pair')} are finished.` : `${many(of, 'pair')} done.`;
  return problems ? `${whole} ${many(problems, 'row')} without every score: the column problem says why.` : whole;
}

/** One table at a time; `root.dataset.state` says what it does: `idle`, `sending` or `running`. */
class Batch {
  constructor(root, trigger) {
    // `turn` numbers the requests; answers to requests before `since` belong to abandoned work.
    Object.assign(this, { root, trigger, turn: 0, since: 0, running: false, begun: false, sending: null, timer: 0, visitor: null, urls: [] });
    this.cancel = press('Cancel', () => this.stop(), { hidden: true });
    this.bar = el('progress', { hidden: true, 'aria-label': 'Pairs scored' });
    this.count = el('span', { class: 'bt-count' });
    this.status = el('p', { role: 'status' });
    this.input = el('input', { type: 'file', accept: '.csv,.tsv,.zip,text/csv,application/zip', hidden: true, onchange: () => {
      const [file] = this.input.files;
      this.input.value = '';
      if (file) this.send(file);
    } });
    this.choose = press('Choose a CSV or ZIP', () => enabled(this.choose) && this.input.click());
    this.sample = el('a', { download: 'pairs.csv' }, 'Sample CSV');
    this.try = press('Run the sample', () => enabled(this.try) && this.send(this.sampleFile));
    this.box = el('input', { type: 'checkbox' });
    this.words = el('span');
    this.judges = el('label', { class: 'bt-judges', hidden: true }, this.box, this.words);
    this.result = el('div');
    this.details = el('details', { ontoggle: () => this.details.open && this.offer() },
      el('summary', {}, 'Many pairs at once: a CSV or ZIP'), el('p', { class: 'pg-quiet' }, ABOUT), el('p', { class: 'pg-quiet' }, FORMAT),
      this.judges, el('div', { class: 'tr-row' }, this.choose, this.input, this.try, this.sample),
      el('div', { class: 'tr-row' }, this.bar, this.count, this.cancel), this.status, this.result);
    root.replaceChildren(this.details);
    addEventListener('likeness-tray', () => root.isConnected && this.price());
    this.set('idle');
  }

  /** Offers the sample, of the examples that the tray has. */
  offer() {
    const comparisons = findTray()?.comparisons ?? [];
    this.sampleFile = new File([sampled(comparisons)], 'pairs.csv', { type: 'text/csv' });
    if (comparisons.length && !this.sample.href) this.sample.href = URL.createObjectURL(this.sampleFile);
    this.sample.hidden = this.try.hidden = !comparisons.length;
    this.price();
  }

  /** Says what the ticked judges would cost, next to the box without which they are not asked. */
  price() {
    const judges = findTray()?.judges() ?? [];
    this.judges.hidden = !judges.length;
    say(this.words, judges.length ? `For each pair, also ask ${cost(judges)}` : '');
  }

  /** Keys of the models that score a table, null where the visitor left the choice as it was; judges only where the visitor says so. */
  scorers() {
    const tray = findTray();
    if (!written(tray.plan.models, tray.decisions)) return null;
    const unasked = this.box.checked ? [] : tray.judges().map(({ key }) => key);
    return tray.models().filter((key) => !unasked.includes(key));
  }

  /** Sends a file and begins. */
  async send(file) {
    if (this.running) return;
    const tray = findTray();
    const models = tray?.plan ? this.scorers() : [];
    const problem = refusal(file, tray, models);
    if (problem) {
      say(this.status, problem);
      return;
    }
    const judges = this.box.checked;
    this.urls.splice(0).forEach((url) => URL.revokeObjectURL(url));
    this.result.replaceChildren();
    const signal = this.open();
    say(this.status, `Sending ${file.name} …`);
    try {
      const { key } = await tray.server.send(file, signal, 'live/file');
      if (signal.aborted) return;
      say(this.status, 'Waiting for the models …');
      this.tell('batch', { file: key, models, judges });
      this.since = this.turn;
    } catch (error) {
      if (!signal.aborted) this.end(sentence(error.message));
    }
  }

  /** Forgets the last work before the next is sent; returns a signal that Cancel aborts. */
  open() {
    this.begun = false;
    this.visitor?.end();
    this.visitor = attention();
    say(this.count, '');
    this.set('sending');
    this.sending = new AbortController();
    return this.sending.signal;
  }

  /** Takes over what Python answers. */
  show(state) {
    if (!this.running && state.state === 'running') this.tell('stop'); // it began after all
    if (!this.running || state.turn < this.since) return;
    this.begun = true;
    if (state.state === 'running') {
      this.set('running');
      say(this.status, state.pause ? 'Running; judges answer a limited number of questions a minute, so this takes longer.' : 'Running; you can use the rest of the page meanwhile.');
      this.bar.value = state.share;
      say(this.count, counted(state));
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
    this.trigger(name, { session: findTray().server.session, turn: this.turn, ...data });
    clearTimeout(this.timer);
    const words = 'Still waiting: other visitors are ahead of you, or the server does not answer. Cancel returns the finished scores.';
    if (this.running) this.timer = setTimeout(() => say(this.status, words), SLOW);
  }

  finished(state) {
    if (state.state === 'failed') {
      this.end(sentence(state.message));
      return;
    }
    const rows = state.preview;
    this.end(ended(state));
    if (rows.length < 2) return;
    const href = URL.createObjectURL(new Blob([state.csv], { type: 'text/csv' }));
    this.urls.push(href);
    this.result.replaceChildren(el('p', {}, el('a', { href, download: 'likeness-pairs.csv', class: 'bt-download' }, 'Download the scores (CSV)')), table(rows),
      el('p', { class: 'pg-quiet' }, `The first ${many(rows.length - 1, 'row')}. A score is on the model’s own scale. ${state.why} ${state.source && sentence(capital(state.source))}`));
    if (this.visitor?.stays()) show(this.result);
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
    enable(this.choose, !this.running);
    enable(this.try, !this.running);
    if (!this.running && document.activeElement === this.cancel) this.choose.focus();
    this.cancel.hidden = !this.running;
    this.bar.hidden = state !== 'running';
    if (!this.running) say(this.count, '');
  }
}

const capital = (words) => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;

/** Why a file is not sent at all, as a sentence; '' where it is. */
function refusal(file, tray, models) {
  if (!tray?.plan) return 'The models above are not loaded yet. Try again in a moment.';
  if (models && !tray.models().length) return 'Tick at least one model above first.';
  if (models && !models.length) return 'Only judges are ticked above. Tick the box to ask them, or another model.';
  if (file.size > LARGEST) return `${file.name} has ${size(file.size)}; at most ${size(LARGEST)} can be sent. Split it.`;
  return file.size ? '' : `${file.name} is empty.`;
}

function table([heads, ...rows]) {
  const cell = (text, column) => el(column ? 'td' : 'th', { scope: column ? null : 'row', dir: 'auto' }, text);
  return el('div', { class: 'pg-wide', role: 'group', 'aria-label': 'The first rows', tabindex: '0' },
    el('table', { class: 'pg-table' }, el('thead', {}, el('tr', {}, ...heads.map((text) => el('th', { scope: 'col', dir: 'auto' }, text)))),
      el('tbody', {}, ...rows.map((cells) => el('tr', {}, ...cells.map(cell))))));
}
