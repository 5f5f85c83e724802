/** Your eyes: from the start over the questions to the answer. */

import { button, el, stylesheet } from '../../js/dom.js';
import { getJson } from '../../js/request.js';
import { Server } from '../../js/server.js';
import { Asking } from './asking.js';
import { reduced, zipped } from './reading.js';
import { Start } from './start.js';
import { random, standing, Visit } from './visit.js';

const AGAIN = 2000; // ms until answers are sent once more
const key = new URLSearchParams(location.search).get('key'); // of the host's study
const own = (path, query = {}) => `eyes/${path}?${new URLSearchParams({ ...query, ...(key && { key }) })}`.replace(/\?$/, '');
const press = (text, act, attributes = {}) => button(text, act, { class: 'ey-button', ...attributes });

/** Mounts the page into `root`. `trigger(name, data)` reaches Python, whose answers come back through `made`. */
export function mount(root, options) {
  if (!root.dataset.mounted) {
    root.dataset.mounted = 'true';
    root.likenessEyes = new Eyes(root, options);
    stylesheet(new URL('./eyes.css', import.meta.url)).then(() => (options.folder ? root.likenessEyes.openFolder() : root.likenessEyes.resume(Visit.stored())));
  }
  return root.likenessEyes;
}

class Eyes {
  constructor(root, { trigger, root: base }) {
    Object.assign(this, { root, trigger, server: new Server(base), files: new Map(), urls: new Map(), visit: null, wish: null, turn: 0, began: 0, reached: 1, sending: false });
    this.notice = el('p', { class: 'pg-message', role: 'status', hidden: true });
    this.blank = root.querySelector('.ey-start');
    this.body = el('div', {}, ...root.childNodes);
    this.words = el('span');
    this.bar = el('progress', { max: 1, 'aria-label': 'Reading the images and asking the models' });
    this.wait = el('p', { class: 'ey-wait pg-quiet', hidden: true }, this.bar, ' ', this.words);
    root.replaceChildren(this.notice, this.body, this.wait);
    addEventListener('pagehide', () => this.server.leave());
  }

  say(words) {
    this.notice.textContent = words;
    this.notice.hidden = !words;
  }

  /** Puts a screen in place of the last one. */
  screen(name, node) {
    this.asking?.close();
    this.asking = null;
    this.body.replaceChildren(node);
    this.root.dataset.screen = name;
  }

  // ---- start

  start(words = '') {
    this.cancel();
    this.say(words);
    this.screen('start', new Start(this.blank, { begin: (wish) => this.make(wish), opened: (file, rater) => this.open(file, rater) }).node);
  }

  /** Goes on with a visit, once its images are there. */
  resume(visit) {
    if (!visit) {
      this.start();
      return;
    }
    this.visit = visit;
    visit.store();
    const wanted = new Set([...visit.images].map((at) => visit.study.contents[at]));
    if (visit.source !== 'upload' || [...wanted].every((name) => this.files.has(name))) {
      this.ask();
      if (visit.waits && this.wish?.visit !== visit) this.work({ source: visit.source, kind: visit.study.kind, seed: visit.seed, images: new Map([...wanted].map((name) => [name, this.files.get(name)])), visit });
      return;
    }
    const found = (images) => {
      images.forEach((blob, name) => this.files.set(name, blob));
      if ([...wanted].every((name) => this.files.has(name))) this.resume(visit);
    };
    const { node } = new Start(this.blank, { wanted, found });
    node.append(el('p', { class: 'ey-row' }, press('Save the study', () => this.save()), press('Start over', () => this.leave())));
    this.say(`${standing(visit.judgments).length} answers are stored in this tab; their images are not. Add the same images to go on.`);
    this.screen('images', node);
  }

  leave() {
    const { source, judgments } = this.visit;
    if (source !== 'folder' && judgments.length && !confirm('Discard the answers? A saved study can be opened again.')) return;
    Visit.forget();
    this.visit = null;
    this.start();
  }

  /** A saved study: to go on with, as a further rater, or as further judgments of the study at hand. */
  async open(file, rater = '') {
    try {
      const text = await file.text();
      const facts = await this.post('order', text, { rater, seed: random() });
      const { study, judgments } = JSON.parse(text); // the server has checked it
      Object.assign(facts, { study, judgments: (judgments ?? []).map((each) => ({ rater: 'me', seed: 0, undone: false, ...each })) });
      if (this.root.dataset.screen !== 'answer') this.resume(new Visit(facts));
      else if (facts.key !== this.visit.key) this.say('That file has other questions than this study: only judgments of the same questions can be added.');
      else {
        const read = this.visit.merge(facts.judgments);
        if (this.visit.source === 'folder') await this.deliver();
        await this.answer();
        this.say(read);
      }
    } catch (error) {
      this.say(error.message);
    }
  }

  /** The same questions for a further rater, on this machine. */
  async another(rater) {
    const { study, judgments, source } = this.visit;
    try {
      const facts = await this.post('order', JSON.stringify({ study, judgments }), { rater, seed: random() });
      this.resume(new Visit({ ...facts, study, judgments, source }));
    } catch (error) {
      this.say(error.message);
    }
  }

  // ---- making

  /** Gets a study from the server: of the photographs, or of the visitor's images. */
  async make(wish) {
    this.say('');
    if (wish.source === 'photographs') {
      try {
        const facts = await getJson(this.server.url(own('study', { kind: wish.kind, seed: random() })), { headers: this.headers });
        this.resume(new Visit({ ...facts, judgments: [], rater: wish.rater }));
      } catch (error) {
        this.say(error.message);
      }
      return;
    }
    this.files = wish.images;
    this.screen('making', el('section', { class: 'ey-making', 'aria-label': 'The questions are made' }, press('Cancel', () => {
      this.server.forget();
      this.start();
    })));
    this.work({ seed: random(), ...wish });
  }

  /** Begins the server's work on a study; images are reduced and sent first. */
  async work(wish) {
    this.cancel();
    this.lost = '';
    this.wish = wish;
    const { turn } = this;
    this.wait.hidden = false;
    this.tell('Waiting', 0);
    let file = '';
    if (wish.source === 'upload') {
      try {
        file = await this.send(wish, () => this.turn === turn);
      } catch (error) {
        if (this.turn === turn) this.failed(error.message);
      }
      if (!file || this.turn !== turn) return;
    }
    this.next(file);
  }

  /** Ends it for this page. */
  cancel() {
    this.turn += 1;
    this.wish = null;
    this.wait.hidden = true;
  }

  failed(message) {
    if (this.root.dataset.screen === 'making') this.start(`${this.lost} ${message}`);
    else {
      this.cancel();
      this.say(message);
    }
  }

  async send({ images, table }, goesOn) {
    const copies = [];
    const lost = [];
    for (const [name, blob] of images) {
      if (!goesOn()) return '';
      this.tell(`Reducing image ${copies.length + 1} of ${images.size}`, copies.length / images.size);
      try {
        copies.push({ name, blob: await reduced(blob) });
      } catch {
        lost.push(name);
      }
    }
    if (lost.length) this.lost = `Not readable as images: ${lost.slice(0, 3).join(', ')}${lost.length > 3 ? ` and ${lost.length - 3} more` : ''}.`;
    this.say(this.lost);
    this.tell('Sending the copies', 0);
    const zip = await zipped([...copies, ...(table ? [table] : [])]);
    return (await this.server.send(zip, undefined, 'live/file')).key;
  }

  /** Shows how far the work is, and about how long it takes at this pace. */
  tell(words, share) {
    if (share < this.reached) this.began = performance.now();
    this.reached = share;
    const left = share && ((performance.now() - this.began) / 1000) * (1 / share - 1);
    this.words.textContent = `${words} …${left > 1 ? ` about ${Math.ceil(left)} s left` : ''}`;
    this.bar.value = share;
  }

  next(file = '') {
    this.turn += 1;
    const { source, kind, seed, visit } = this.wish;
    const study = file && visit && { kind: visit.study.kind, contents: visit.study.contents, questions: visit.study.questions };
    this.trigger('make', { session: this.server.session, source, kind, seed, file, turn: this.turn, early: visit?.early ?? 0, ...(key && { key }), ...(study && { study }) });
  }

  /** Takes over what Python answers: the questions as soon as they are there, then what models pick. */
  made(facts) {
    if (facts.turn !== this.turn || !this.wish) return;
    const { wish } = this;
    if (facts.state === 'failed') {
      this.failed(facts.message);
      return;
    }
    if (facts.study) {
      wish.visit = new Visit({ ...facts, judgments: [], rater: wish.rater });
      this.resume(wish.visit);
      this.say([this.lost, ...(facts.study.notes ?? []).slice(0, 3).map((note) => `${note}.`)].filter(Boolean).join(' '));
    }
    if (facts.state === 'running') {
      this.tell(facts.what, facts.share);
      if (facts.waits) setTimeout(() => facts.turn === this.turn && this.next(facts.file), AGAIN);
      else this.next();
    } else if (facts.picked && !wish.visit.complete(facts)) this.next(); // answers went on meanwhile
    else {
      this.cancel();
      if (this.root.dataset.screen === 'answer') this.answer();
    }
  }

  // ---- the study of the host's folder

  async openFolder() {
    try {
      const facts = await getJson(this.server.url(own('study')), { headers: this.headers });
      const left = Visit.stored();
      const unsent = left?.key === facts.key ? left.unsent : [];
      this.resume(new Visit({ ...facts, judgments: [...facts.judgments, ...unsent], unsent }));
      this.deliver();
    } catch (error) {
      if (error.status === 404) this.resume(Visit.stored()); // not for this visitor, who has one of their own
      else this.say(`${error.message} Reload the page to try again.`);
    }
  }

  /** Sends answers to the folder in their order, again and again until the server has them. */
  async deliver() {
    const { visit } = this;
    if (this.sending) return;
    this.sending = true;
    while (visit.unsent.length && this.root.isConnected) {
      try {
        await getJson(this.server.url(own('judgment')), { method: 'POST', body: JSON.stringify(visit.unsent[0]), patience: 20_000 });
        visit.unsent.shift();
        if (this.visit === visit) visit.store();
        this.say('');
        if (this.asking?.blind) this.asking.show();
      } catch (error) {
        const waits = `${visit.unsent.length} answers wait in this tab and are sent once it does.`;
        this.say(error.status >= 400 && error.status < 500 ? error.message : `The server does not answer: ${waits}`);
        await new Promise((resolve) => {
          setTimeout(resolve, AGAIN);
        });
      }
    }
    this.sending = false;
  }

  // ---- questions

  address(at) {
    const { visit, files, urls } = this;
    const name = visit.study.contents[at];
    if (visit.source !== 'upload') return this.server.url(own(`${visit.source}/image`, { name }));
    const file = files.get(name); // another study's file may have the same name
    if (!urls.has(file)) urls.set(file, URL.createObjectURL(file));
    return urls.get(file);
  }

  async ask() {
    this.say('');
    const asking = new Asking(this.visit, {
      address: (at) => this.address(at),
      report: () => this.answer(),
      save: () => this.save(),
      changed: () => {
        if (this.visit.source === 'folder') this.deliver();
        else this.say('');
        asking.show().then((more) => more || this.answer('All questions are answered.'));
      },
    });
    this.screen('ask', asking.node);
    this.asking = asking;
    asking.title.focus();
    if (!await asking.show()) this.answer('All questions are answered.');
  }

  // ---- the answer

  async answer(words = '') {
    const { study, judgments, source, waits } = this.visit;
    if (waits && this.wish) {
      this.screen('answer', el('section', { class: 'ey-answer', 'aria-label': 'Answer' }, el('p', { role: 'status' }, 'The answer comes once the models have seen all questions.'),
        el('p', { class: 'ey-row' }, press('Go on asking', () => this.ask(), { class: 'ey-button ey-primary' }))));
      return;
    }
    try {
      const { html, manifest } = await this.report();
      const parsed = new DOMParser().parseFromString(html, 'text/html'); // a template's own, every value in it escaped
      parsed.querySelectorAll('[data-image]').forEach((place) => {
        if (source !== 'upload' || this.files.has(study.contents[place.dataset.image])) place.append(el('img', { alt: place.dataset.alt, src: this.address(Number(place.dataset.image)) }));
      });
      const file = el('input', { type: 'file', hidden: true, 'aria-label': 'Another rater’s study', accept: '.json,application/json', onchange: () => file.files.length && this.open(file.files[0]) });
      const table = source === 'photographs' ? press('Download the answers with images (ZIP)', () => this.exported(manifest)) : source === 'upload' && press('Download the answers (CSV)', () => download(new Blob([manifest]), 'manifest.csv'));
      const next = el('input', { 'aria-label': 'Name of the next rater', placeholder: 'Name of the next rater', maxlength: '40' });
      const node = el('section', { class: 'ey-answer', 'aria-label': 'Answer' },
        el('p', { class: 'ey-row' }, press('Go on asking', () => this.ask(), { class: 'ey-button ey-primary' }), press('Save the study (JSON)', () => this.save()), table,
          source !== 'folder' && next, source !== 'folder' && press('Next rater on this machine', () => (next.value.trim() ? this.another(next.value.trim()) : next.focus())), press('Add another rater’s file', () => file.click()), file, press('Start over', () => this.leave())), ...parsed.body.childNodes);
      this.say(words);
      this.screen('answer', node);
      node.querySelector('h2')?.focus();
    } catch (error) {
      this.say(error.message);
    }
  }

  get headers() {
    this.server.hasUploads = true; // the study, which the server has until the page is left
    return { 'x-likeness-session': this.server.session };
  }

  post(path, body, query = {}) {
    return getJson(this.server.url(own(path, query)), { method: 'POST', body, headers: this.headers });
  }

  /** The report on the answers; the study is sent only where the server has it no longer. */
  async report() {
    const { visit } = this;
    const ask = () => this.post('report', JSON.stringify(visit.judgments), { source: visit.source, study: visit.id });
    try {
      if (visit.id) return await ask();
    } catch (error) {
      if (error.status !== 404) throw error;
    }
    visit.id = (await this.post('order', JSON.stringify({ study: visit.study }), { seed: visit.seed })).id;
    return ask();
  }

  save() {
    const { study, judgments } = this.visit;
    download(new Blob([JSON.stringify({ study, judgments })], { type: 'application/json' }), 'likeness-eyes.json');
  }

  /** The answers as a folder of own data: the table and the images that it names. */
  async exported(manifest) {
    const { contents } = this.visit.study;
    const shown = [...this.visit.images].filter((at) => manifest.includes(contents[at]));
    try {
      const images = await Promise.all(shown.map(async (at) => ({ name: contents[at], blob: await (await fetch(this.address(at))).blob() })));
      download(await zipped([{ name: 'manifest.csv', blob: new Blob([manifest]) }, ...images]), 'likeness-eyes.zip');
    } catch {
      this.say('The images could not be fetched. Try again.');
    }
  }
}

function download(blob, name) {
  const href = URL.createObjectURL(blob);
  el('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
