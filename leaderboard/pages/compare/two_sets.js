/** Two sets of images: each a ZIP or loose files, compared on the server by one encoder's features, in turns. */

import { el, stylesheet } from '../../js/dom.js';
import { enable, enabled, press, say } from './parts.js';
import { Turns } from './turns.js';
import { left, many, sentence, size } from './words.js';
import { zipped } from './zip.js';

const LARGEST = 50_000_000; // bytes of a set; the server refuses more
const MOST = 200; // images of a set; the server refuses more
const ROLES = [['reference', 'Reference set', 'real images, or the images to compare with'], ['generated', 'Generated set', 'the images to judge']];
const ABOUT = 'Compares two sets of images as image generators are compared: by the Fréchet distance (FD; FID with Inception-v3’s features), the kernel distance (KID), precision, recall, density and coverage, each with its interval over the images. With so few images the Fréchet distance is far too high, so each metric stands beside what two alike sets of as many images would give.';
const FORMAT = `Each set is a ZIP, or several images: ${MOST} at most, and ${size(LARGEST)}. Folders do not matter, and nothing is paired by name. All of it stays in memory and goes with this visit.`;
const NONE = 'No image encoder is ready here. Compare two images with one above first, which downloads it.';

/**
 * Mounts the part into `root`. `trigger(name, data)` reaches Python; `tray()` is the page's tray, whose session is
 * used. Hands back { show(state) } for what Python answers.
 */
export function mount(root, { trigger = () => {}, tray = () => document.querySelector('.likeness-tray')?.likenessTray } = {}) {
  if (!root.dataset.mounted) {
    root.dataset.mounted = 'true';
    stylesheet(new URL('./turns.css', import.meta.url));
    root.likenessSets = new TwoSets(root, trigger, tray);
  }
  return root.likenessSets;
}

/** Why the files of a set cannot be sent, as a sentence; '' where they can. `files` are Files, `role` as in ROLES. Pure. */
export function refusal(files, role) {
  if (!files.length) return `Choose the ${role} set first.`;
  const zips = files.filter(isZip);
  if (zips.length && files.length > 1) return `The ${role} set is one ZIP or several images, not both, and not several ZIPs.`;
  const other = files.find((file) => !isZip(file) && !/^(image\/.*|application\/octet-stream|)$/.test(file.type)); // browsers do not know every image
  if (other) return `${other.name} is neither an image nor a ZIP.`;
  if (!zips.length && files.length > MOST) return `${files.length} images are too many for the ${role} set: choose at most ${MOST}.`;
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  if (bytes > LARGEST) return `The ${role} set has ${size(bytes)}; at most ${size(LARGEST)} can be sent. Save its images as JPEG or WebP, or take fewer.`;
  return bytes ? '' : `The ${role} set is empty.`;
}

/** A set's files in words. Pure. */
export function chosen(files) {
  if (!files.length) return 'Nothing chosen. Drop a ZIP or images here.';
  const bytes = size(files.reduce((sum, file) => sum + file.size, 0));
  return files.length === 1 ? `${files[0].name}, ${bytes}` : `${many(files.length, 'image')}, ${bytes}`;
}

/** How far the server is, in words. Pure. */
export function counted({ done, of, left: seconds }) {
  return [`${done} of ${many(of, 'image')} encoded`, left(seconds)].filter(Boolean).join(', ');
}

const isZip = (file) => /\.zip$/i.test(file.name) || /zip/.test(file.type);

class TwoSets extends Turns {
  constructor(root, trigger, tray) {
    super(root, trigger, { progress: 'Images encoded', cancelled: 'Cancel ends the comparison.' });
    Object.assign(this, { tray, files: { reference: [], generated: [] }, sent: new Map() });
    this.slots = ROLES.map(([role, title, words]) => this.slot(role, title, words));
    this.encoder = el('select', {});
    this.compare = press('Compare the sets', () => enabled(this.compare) && this.start(), { class: 'bt-button' });
    this.try = press('Try drawn sets', () => enabled(this.try) && this.start(true), { class: 'bt-button' });
    this.result = el('div', { class: 'bt-result' });
    this.details = el('details', { ontoggle: () => this.details.open && this.tell('offer') },
      el('summary', {}, 'Two sets of images: FD, KID, precision and recall'), el('p', { class: 'pg-quiet' }, ABOUT), el('p', { class: 'pg-quiet' }, FORMAT),
      el('div', { class: 'bt-sets' }, ...this.slots.map(({ node }) => node)),
      el('div', { class: 'bt-row' }, el('label', { class: 'bt-field' }, 'Encoder', this.encoder), this.compare, this.try, el('span', { class: 'pg-quiet' }, 'Drawn sets are synthetic: clean scenes, and blurred ones.')),
      el('div', { class: 'bt-row' }, this.bar, this.count, this.cancel), this.status, this.result);
    root.replaceChildren(this.details);
    this.set('idle');
  }

  /** One set's part: a button, a place to drop, and what is chosen. */
  slot(role, title, words) {
    const input = el('input', { type: 'file', accept: '.zip,application/zip,image/*', multiple: true, hidden: true, onchange: () => {
      const files = [...input.files];
      input.value = '';
      if (files.length) this.take(role, files);
    } });
    const label = el('p', { class: 'bt-file' }, chosen([]));
    const choose = press('Choose a ZIP or images', () => enabled(choose) && input.click(), { class: 'bt-button', 'aria-label': `Choose a ZIP or images for the ${role} set` });
    const node = el('fieldset', { class: 'bt-set', 'data-role': role, ondragover: (event) => this.over(event, node), ondragleave: () => node.classList.remove('bt-over'), ondrop: (event) => this.drop(event, node, role) },
      el('legend', {}, title), el('p', { class: 'pg-quiet' }, words), choose, input, label);
    return { role, node, label, choose };
  }

  over(event, node) {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = this.running ? 'none' : 'copy';
    node.classList.toggle('bt-over', !this.running);
  }

  drop(event, node, role) {
    node.classList.remove('bt-over');
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    if (!this.running) this.take(role, [...event.dataTransfer.files]);
  }

  /** Takes files as a set; those of before are forgotten. */
  take(role, files) {
    const problem = refusal(files, role);
    if (!problem) {
      this.files[role] = files;
      say(this.slots.find((slot) => slot.role === role).label, chosen(files));
    }
    say(this.status, problem);
  }

  session() {
    return this.tray()?.server.session ?? '';
  }

  /** Sends both sets, where the server does not have them, and begins; with `example` the server draws them. */
  async start(example = false) {
    if (this.running) return;
    const problem = this.problem(example);
    if (problem) {
      say(this.status, problem);
      return;
    }
    this.result.replaceChildren();
    const signal = this.open();
    const keys = { reference: 'example', generated: 'example' };
    try {
      if (!example) for (const [role] of ROLES) keys[role] = await this.send(role, signal);
      if (signal.aborted) return;
      say(this.status, 'Waiting for the encoder …');
      this.begin('sets', { ...keys, encoder: this.encoder.value });
    } catch (error) {
      if (!signal.aborted) this.end(sentence(error.message));
    }
  }

  problem(example) {
    if (!this.tray()) return 'The page is not loaded yet. Try again in a moment.';
    if (!this.encoder.value) return NONE;
    return example ? '' : ROLES.map(([role]) => refusal(this.files[role], role)).find(Boolean) ?? '';
  }

  /** The key of a set's file on the server. */
  async send(role, signal) {
    const files = this.files[role];
    if (this.sent.get(role)?.files === files) return this.sent.get(role).key;
    say(this.status, `Sending the ${role} set …`);
    const { key } = await this.tray().server.send(isZip(files[0]) ? files[0] : await packed(files), signal, 'live/file');
    this.sent.set(role, { files, key });
    return key;
  }

  show(state) {
    if (state.state !== 'offered') super.show(state);
    else this.offer(state.encoders);
  }

  offer(encoders) {
    const before = this.encoder.value;
    this.encoder.replaceChildren(...encoders.map(({ key, title }) => el('option', { value: key }, title)));
    if (encoders.some(({ key }) => key === before)) this.encoder.value = before;
    if (!encoders.length) say(this.status, NONE);
    this.root.dataset.offered = 'true';
  }

  advanced(state) {
    say(this.status, state.pause ? 'Waiting: many images are being read at this moment.' : 'Running; you can use the rest of the page meanwhile.');
    this.bar.max = state.of;
    this.bar.value = state.done;
    say(this.count, state.done < state.of ? counted(state) : 'Computing the metrics');
  }

  finished(state) {
    if (state.state === 'failed') {
      this.sent.clear(); // the server may have forgotten them
      this.end(sentence(state.message));
    } else if (state.state === 'stopped') this.end('Stopped: nothing was computed.');
    else {
      this.end('Done.');
      this.result.replaceChildren(...drawn(state.report));
      this.arrived(this.result);
    }
  }

  changed() {
    [this.compare, this.try, ...this.slots.map(({ choose }) => choose)].forEach((node) => enable(node, !this.running));
    this.encoder.disabled = this.running;
    if (!this.running && document.activeElement === this.cancel) this.compare.focus();
  }
}

/** Loose images as one ZIP. */
async function packed(files) {
  const read = await Promise.all(files.map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })));
  return new Blob(zipped(read), { type: 'application/zip' });
}

/** A report as elements: what was compared, the table, what to know, and lists. */
function drawn({ about, heads, rows, notes, lists }) {
  const cell = (text, column) => el(column ? 'td' : 'th', column ? { class: 'bt-num' } : { scope: 'row' }, text);
  return [el('p', {}, about),
    el('div', { class: 'pg-wide', role: 'group', 'aria-label': 'Metrics of the two sets', tabindex: '0' },
      el('table', { class: 'pg-table' }, el('thead', {}, el('tr', {}, ...heads.map((text, column) => el('th', { scope: 'col', class: column ? 'bt-num' : null }, text)))),
        el('tbody', {}, ...rows.map((cells) => el('tr', {}, ...cells.map(cell)))))),
    el('p', { class: 'pg-quiet' }, '↓ lower is better, ↑ higher is better.'),
    el('ul', { class: 'bt-notes' }, ...notes.map((text) => el('li', { dir: 'auto' }, text))),
    ...lists.map(({ title, lines, more }) => el('details', { class: 'bt-list' }, el('summary', {}, title),
      el('ul', {}, ...lines.map((text) => el('li', { dir: 'auto' }, text)), more ? el('li', {}, `and ${more} more`) : null)))];
}
