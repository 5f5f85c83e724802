/** The start: which question, and about which images. */

import { button, el } from '../../js/dom.js';
import { collected, MOST_IMAGES } from './reading.js';

const KINDS = [
  ['image', 'More like the reference', 'Of two images, which is more like a third?'],
  ['text', 'Fits the text', 'Of two images, which fits a prompt better?'],
  ['quality', 'Better quality', 'Of two images, which looks better?'],
];
const many = (count, one) => `${count} ${one}${count === 1 ? '' : 's'}`;

export class Start {
  /** `begin({source, kind, rater, images, table})`, `opened(file, rater)` for a saved study; `wanted`: names of images that a visit goes on with. */
  constructor({ begin, opened, wanted = null, found = () => {} }) {
    Object.assign(this, { begin, opened, wanted, found, images: new Map(), table: null });
    this.kinds = KINDS.map(([value, title, words], at) => el('label', { class: 'ey-kind' },
      el('input', { type: 'radio', name: 'ey-kind', value, checked: at === 0, onchange: () => this.#refresh() }), el('b', {}, title), el('span', { class: 'pg-quiet' }, words)));
    this.name = el('input', { type: 'text', maxlength: '60', autocomplete: 'off', class: 'ey-input' });
    this.prompts = el('textarea', { rows: '4', class: 'ey-input', oninput: () => this.#refresh() });
    this.prompting = el('label', { class: 'ey-field' }, 'Prompts, one a line, or add a CSV with a column prompt', this.prompts);
    this.input = el('input', { type: 'file', multiple: true, hidden: true, 'aria-label': 'Images, ZIP or CSV', accept: 'image/png,image/jpeg,image/webp,image/gif,.zip,.csv,.tsv', onchange: () => this.#chosen(this.input) });
    this.file = el('input', { type: 'file', hidden: true, 'aria-label': 'A saved study', accept: '.json,application/json', onchange: () => this.#chosen(this.file) });
    this.said = el('p', { role: 'status' });
    this.go = button('Start', () => this.#begin(), { class: 'ey-button ey-primary', hidden: true });
    const own = el('div', { class: 'ey-own' },
      el('p', {}, wanted ? 'Drop the same images here, or a ZIP of them.' : `Or your own: drop up to ${MOST_IMAGES} images here, or a ZIP of them.`),
      this.prompting,
      el('p', { class: 'ey-row' }, button('Choose files', () => this.input.click(), { class: 'ey-button' }), this.input, this.go), this.said,
      el('p', { class: 'pg-quiet' }, wanted ? 'They stay in this browser: no model needs to see them again.' : 'The server gets copies of at most 512 pixels, and forgets them once the models have seen them. A CSV with the columns reference or prompt, alternative_1 and alternative_2 gives the questions.'));
    own.addEventListener('dragover', (event) => event.preventDefault());
    own.addEventListener('drop', (event) => {
      event.preventDefault();
      this.take(event.dataTransfer.files);
    });
    const open = el('p', { class: 'ey-row' }, button('Open a saved study', () => this.file.click(), { class: 'ey-button' }), this.file, el('span', { class: 'pg-quiet' }, 'to go on, or as a further rater under another name.'));
    this.node = wanted ? el('section', { class: 'ey-start', 'aria-label': 'Start' }, own) : el('section', { class: 'ey-start', 'aria-label': 'Start' },
      el('fieldset', {}, el('legend', {}, 'What do you compare?'), ...this.kinds),
      el('p', { class: 'ey-row' }, button('Use the shipped photographs', () => begin({ source: 'photographs', ...this.#facts() }), { class: 'ey-button ey-primary' }),
        el('label', { class: 'ey-name' }, 'Your name, if several people judge', this.name)),
      own, open);
    this.#refresh();
  }

  /** Takes files over: images, tables, ZIPs, and a saved study. */
  async take(files) {
    this.said.textContent = 'Reading …';
    const { images, tables, studies, problems } = await collected([...files]);
    if (studies.length) {
      this.opened(studies[0], this.name.value.trim());
      return;
    }
    for (const [name, blob] of images) if (this.images.size < MOST_IMAGES || this.images.has(name)) this.images.set(name, blob);
    if (tables.length + (this.table ? 1 : 0) > 1) problems.push('Several tables: the last one is used.');
    this.table = tables.at(-1) ?? this.table;
    this.#refresh(problems);
    if (this.wanted) this.found(this.images);
  }

  #chosen(input) {
    const files = [...input.files];
    input.value = '';
    if (files.length) this.take(files);
  }

  #facts() {
    return { kind: this.kinds.map((label) => label.firstChild).find((radio) => radio.checked).value, rater: this.name.value.trim() };
  }

  #begin() {
    const { kind, rater } = this.#facts();
    const lines = kind === 'text' && !this.table ? this.prompts.value.split('\n').map((line) => line.trim()).filter(Boolean) : [];
    const quoted = ['prompt', ...lines].map((line) => `"${line.replaceAll('"', '""')}"\n`);
    const table = lines.length ? { name: 'prompts.csv', blob: new Blob(quoted) } : this.table;
    this.begin({ source: 'upload', kind, rater, images: this.images, table });
  }

  #refresh(problems = []) {
    const { kind } = this.#facts();
    const asksText = kind === 'text' && !this.wanted;
    this.prompting.hidden = !asksText;
    this.go.hidden = !this.images.size || Boolean(this.wanted) || (asksText && !this.table && !this.prompts.value.trim());
    const found = this.wanted ? `${[...this.wanted].filter((name) => this.images.has(name)).length} of ${many(this.wanted.size, 'image')} found.` : this.images.size && `${many(this.images.size, 'image')}${this.table ? ` and ${this.table.name}` : ''} added.`;
    const more = problems.length > 5 ? [...problems.slice(0, 5), `And ${problems.length - 5} more.`] : problems;
    this.said.textContent = [found, ...more].filter(Boolean).join(' ');
  }
}
