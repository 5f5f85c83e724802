/** The start: which question, and about which images. */

import { collected, MOST_IMAGES } from './reading.js';

const many = (count, one) => `${count} ${one}${count === 1 ? '' : 's'}`;

export class Start {
  /** A copy of `blank`, which the page came with. `begin({source, kind, rater, images, table})`, `opened(file, rater)` for a saved study; `wanted`: names of images that a visit goes on with. */
  constructor(blank, { begin, opened, wanted = null, found = () => {} }) {
    Object.assign(this, { begin, opened, wanted, found, images: new Map(), table: null, node: blank.cloneNode(true) });
    const all = (selector) => [...this.node.querySelectorAll(selector)];
    const [shipped, choose, go, open] = all('button');
    const [said, note] = all('.ey-own > p').slice(2);
    [this.input, this.file] = all('[type=file]');
    [this.kinds, this.go, this.said] = [all('[type=radio]'), go, said];
    [this.name, this.prompts] = all('.ey-input');
    this.kinds.forEach((kind) => Object.assign(kind, { name: 'ey-kind-asked', onchange: () => this.#refresh() })); // of a group of their own
    this.prompts.oninput = () => this.#refresh();
    shipped.onclick = () => begin({ source: 'photographs', ...this.#facts() });
    go.onclick = () => this.#begin();
    for (const [press, input] of [[choose, this.input], [open, this.file]]) {
      press.onclick = () => input.click();
      input.onchange = () => this.#chosen(input);
    }
    const own = this.node.querySelector('.ey-own');
    own.addEventListener('dragover', (event) => event.preventDefault());
    own.addEventListener('drop', (event) => {
      event.preventDefault();
      this.take(event.dataTransfer.files);
    });
    if (wanted) {
      this.node.replaceChildren(own);
      own.firstElementChild.textContent = 'Drop the same images here, or a ZIP of them.';
      note.textContent = 'They stay in this browser: no model needs to see them again.';
    }
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
    return { kind: this.kinds.find((radio) => radio.checked).value, rater: this.name.value.trim() };
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
    this.prompts.parentNode.hidden = !asksText;
    this.go.hidden = !this.images.size || Boolean(this.wanted) || (asksText && !this.table && !this.prompts.value.trim());
    const found = this.wanted ? `${[...this.wanted].filter((name) => this.images.has(name)).length} of ${many(this.wanted.size, 'image')} found.` : this.images.size && `${many(this.images.size, 'image')}${this.table ? ` and ${this.table.name}` : ''} added.`;
    const more = problems.length > 5 ? [...problems.slice(0, 5), `And ${problems.length - 5} more.`] : problems;
    this.said.textContent = [found, ...more].filter(Boolean).join(' ');
  }
}
