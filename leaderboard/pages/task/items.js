/** The single items of a task: one computed run, or two side by side; filtered, in order, a page at a time. */

import { withValues } from '../../js/address.js';
import { el, stylesheet, writeQuery } from '../../js/dom.js';
import { getJson } from '../../js/request.js';
import { runDetails } from '../../js/run_details.js';
import { drawItem } from './item.js';

let last = ''; // the task shown before on this page: what was chosen for it does not fit another

/** The choice that a query string holds; the server checks it. */
export function parse(search) {
  const query = new URLSearchParams(search);
  const part = Math.trunc(Number(query.get('part')));
  return {
    items: (query.get('items') ?? '').split(',').filter(Boolean).slice(0, 2),
    show: query.get('show') ?? '', order: query.get('order') ?? '', subset: query.get('subset') ?? '',
    part: Number.isSafeInteger(part) && part > 0 ? part : 1, every: query.get('every') === 'yes',
  };
}

/** A choice as a query string, without defaults; other parameters in `search` stay. */
export function write(state, search) {
  const { items, show, order, subset, part, every } = state;
  return withValues(search, { items: items.join(','), show, order, subset, part: part > 1 ? String(part) : '', every: every ? 'yes' : '' });
}

/** `25 to 48 of 187`, or what an empty list means. */
export function range(part, per, count) {
  if (!count) return 'no';
  const first = (part - 1) * per + 1;
  const end = Math.min(part * per, count);
  return first === 1 && end === count ? `${count}` : `${first} to ${end} of ${count.toLocaleString('en')}`;
}

/** Draws the items into every `<div class="lk-items" data-task="...">` of the page, also those that Gradio draws later. */
export function watch(page = document.body) {
  const scan = () => {
    for (const root of page.querySelectorAll('.lk-items:not([data-mounted])')) {
      root.dataset.mounted = 'true';
      new Items(root).start();
    }
  };
  new MutationObserver(scan).observe(page, { childList: true, subtree: true });
  scan();
}

class Items {
  constructor(root) {
    this.root = root;
    this.task = root.dataset.task;
    this.state = parse(location.search);
    if (last && last !== this.task) this.state = { ...parse(''), items: this.state.items };
    this.moved = last !== '' && last !== this.task;
    last = this.task;
  }

  async start() {
    stylesheet(new URL('./items.css', import.meta.url));
    await this.load();
    if (this.moved) this.remember();
  }

  change(patch, focus = '') {
    this.state = { ...this.state, part: 1, ...patch };
    this.remember();
    this.load(focus);
  }

  remember() {
    if (this.root.isConnected) writeQuery(write(this.state, location.search));
  }

  async load(focus = '') {
    this.request?.abort();
    this.request = new AbortController();
    const { signal } = this.request;
    this.root.setAttribute('aria-busy', 'true');
    const query = new URLSearchParams(write(this.state, ''));
    query.set('task', this.task);
    try {
      const data = await getJson(new URL(`data/items?${query}`, document.baseURI), { signal });
      if (this.moved && data.runs.length && !data.chosen.length) {
        // The model was chosen for the task before; only one that an address names is asked for here.
        this.state = { ...this.state, items: [] };
        await this.load(focus);
        return;
      }
      this.draw(data);
      if (focus) this.root.querySelector(`[data-focus="${focus}"]`)?.focus({ preventScroll: true });
    } catch (error) {
      if (signal.aborted) return;
      this.root.replaceChildren(el('p', { class: 'pg-quiet', role: 'status' }, `The items could not be loaded. ${error.message} `),
        el('button', { type: 'button', class: 'pg-copy', onclick: () => this.load() }, 'Try again'));
      this.root.dataset.ready = 'error';
    }
    this.root.removeAttribute('aria-busy');
  }

  draw(data) {
    if (!data.runs.length) {
      this.root.replaceChildren(el('p', { class: 'pg-quiet' }, data.empty), ...(data.command ? [el('pre', { tabindex: '0', class: 'lk-command' }, data.command)] : []));
      this.root.dataset.ready = '0';
      return;
    }
    if (!data.chosen.length) {
      const options = [['', 'choose a model'], ...data.runs.map(({ model, title, score }) => [model, `${title}  ·  ${score}`])];
      this.root.replaceChildren(el('p', { class: 'pg-message', role: 'status' }, data.note), el('div', { class: 'lk-choose' },
        this.select('Model', 'model', options, '', (model) => this.change({ items: [model] }, 'model'))));
      this.root.dataset.ready = '0';
      return;
    }
    const { scored } = data;
    const several = data.chosen.length > 1;
    const list = data.items.length
      ? el('ul', { class: 'lk-itemlist' }, ...data.items.map((item) => drawItem(item, { task: this.task, scored, several, expected: data.expected })))
      : el('p', { class: 'pg-quiet' }, 'No item is in this group.');
    this.root.replaceChildren(
      ...(data.note ? [el('p', { class: 'pg-message', role: 'status' }, data.note)] : []),
      this.controls(data), ...(data.shows.length > 1 ? [this.groups(data)] : []), el('p', { class: 'pg-quiet lk-explained' }, data.explained, this.coverage(data)),
      list, this.pager(data), this.details(data));
    this.root.dataset.ready = String(data.count);
  }

  controls(data) {
    const [first, second = ''] = data.chosen;
    const option = ({ model, title, score }) => [model, `${title}  ·  ${score}`];
    const both = (one, other) => [one, other].filter(Boolean);
    return el('div', { class: 'lk-choose' },
      this.select('Model', 'model', data.runs.map(option), first, (model) => this.change({ items: both(model, model === second ? '' : second), show: '' }, 'model')),
      data.runs.length > 1 && this.select('Compare with', 'beside', [['', 'no other'], ...data.runs.filter(({ model }) => model !== first).map(option)], second,
        (model) => this.change({ items: both(first, model), show: '' }, 'beside')),
      data.orders.length > 0 && this.select('Order', 'order', data.orders.map(({ key, title }) => [key, title]), data.order, (order) => this.change({ order }, 'order')),
      data.subsets.length > 0 && this.select('Subset', 'subset', [['', 'all'], ...data.subsets.map((name) => [name, name])], data.subset, (subset) => this.change({ subset }, 'subset')));
  }

  select(label, key, options, value, onchange) {
    const node = el('select', { class: 'pg-pick', 'data-focus': key, onchange: () => onchange(node.value) },
      ...options.map(([name, title]) => el('option', { value: name }, title)));
    node.value = value;
    return el('label', {}, el('span', {}, label), node);
  }

  groups(data) {
    return el('div', { class: 'lk-groups-of', role: 'group', 'aria-label': 'Which items' }, ...data.shows.map(({ key, title, count }) => el('button', {
      type: 'button', class: 'lk-group-of', 'aria-pressed': String(key === data.show), 'data-focus': `show-${key}`, disabled: !count && key !== data.show,
      onclick: () => this.change({ show: key }, `show-${key}`),
    }, title, el('b', {}, count.toLocaleString('en')))));
  }

  /** How much of the task these items are, and the way to those without pictures. */
  coverage({ pictured, stored, whole, every }) {
    const parts = [];
    if (whole && stored < whole) parts.push(`${stored.toLocaleString('en')} of ${whole.toLocaleString('en')} items are stored, sampled at random, the same for every model.`);
    if (pictured === null) return parts.length ? ` ${parts.join(' ')}` : '';
    parts.push(every ? `Shown are all ${stored.toLocaleString('en')}; ` : `Shown are the ${pictured.toLocaleString('en')} of ${stored.toLocaleString('en')} that have pictures; `);
    const button = el('button', { type: 'button', class: 'lk-inline', 'data-focus': 'every', onclick: () => this.change({ every: !every }, 'every') },
      every ? 'only those with pictures' : 'show all');
    return el('span', {}, ` ${parts.join(' ')}`, button, '.');
  }

  pager({ part, parts, per, count }) {
    const step = (by, title) => el('button', {
      type: 'button', class: 'pg-copy', disabled: part + by < 1 || part + by > parts, 'data-focus': title,
      onclick: () => {
        this.change({ part: part + by }, title);
        this.root.scrollIntoView({ block: 'start' });
      },
    }, title);
    return el('nav', { class: 'lk-pager', 'aria-label': 'Pages of items' }, parts > 1 && step(-1, 'Previous'),
      el('span', { role: 'status' }, `${range(part, per, count)} ${count === 1 ? 'item' : 'items'}`), parts > 1 && step(1, 'Next'));
  }

  details(data) {
    const runs = data.runs.filter(({ model }) => data.chosen.includes(model));
    return el('div', {}, ...runs.map(({ id, title, variant }) => runDetails(id, `Run details: ${title}${variant ? `, ${variant}` : ''}`)));
  }
}
