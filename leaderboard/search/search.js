/** The search over the site: `/` or the button in the bar opens it. A combobox with a list, as the ARIA pattern describes. */

import { encodedKey } from '../js/address.js';
import { debounce, el, follow, stylesheet } from '../js/dom.js';
import { getJson } from '../js/request.js';

const TYPED_AFTER = 40; // ms
const LONGEST = 100; // characters of a query
const EXAMPLES = 'Try “CLIP L/14”, “how is rank computed”, “nDCG” or “Table 22”.';
const PATIENCE = 20_000; // ms
const SOURCE = 'data/search';

/** Ties the search to its button in the bar and to `/`. The index is fetched when the search is first opened. */
function mount(trigger) {
  const search = createSearch(new URL(trigger.dataset.root, document.baseURI));
  trigger.addEventListener('click', search.open);
  document.addEventListener('keydown', (event) => {
    const field = event.target.closest?.('input, textarea, select, [contenteditable], dialog[open], [role=dialog]');
    const busy = field?.checkVisibility(); // just after a dialog was closed the focus may still be in it, unseen
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || busy || event.defaultPrevented) return;
    event.preventDefault();
    search.open();
  });
  trigger.dataset.ready = 'true';
}

/** `root`: the app's address. */
function createSearch(root) {
  const styles = stylesheet(new URL('./search.css', import.meta.url));
  let index = null;
  let options = []; // a result's link, and `compare`: the option next to it
  let active = null;
  const input = el('input', {
    type: 'text', inputmode: 'search', class: 'se-input', role: 'combobox', 'aria-label': 'What to search for', 'aria-expanded': 'false',
    'aria-controls': 'se-list', 'aria-autocomplete': 'list', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
    enterkeyhint: 'go', maxlength: LONGEST, placeholder: 'Search models, tasks, metrics, methods and docs',
  });
  const list = el('div', { class: 'se-list', id: 'se-list', role: 'listbox', 'aria-label': 'Results' });
  const status = el('p', { class: 'se-status', role: 'status' });
  const close = el('button', { type: 'button', class: 'se-close', 'aria-label': 'Close the search', onclick: () => dialog.close() }, '×');
  const dialog = el('dialog', { class: 'se-dialog', 'aria-label': 'Search' }, el('div', { class: 'se-line' }, input, close), status, list);
  document.body.append(dialog);

  function choose(option) {
    active?.setAttribute('aria-selected', 'false');
    active = option;
    if (!option) {
      input.removeAttribute('aria-activedescendant');
      return;
    }
    option.setAttribute('aria-selected', 'true');
    input.setAttribute('aria-activedescendant', option.id);
    option.scrollIntoView({ block: 'nearest' });
  }

  /** The address that compares a model: on Compare with the models shown, elsewhere with one still to be chosen. */
  function comparison(key) {
    const address = new URL('compare', root);
    const shown = location.pathname === address.pathname ? new URLSearchParams(location.search).get('models') ?? '' : '';
    const models = new Set([...shown.split(',').filter(Boolean), key]);
    return `${address.href}?models=${[...models].map(encodedKey).join(',')}`;
  }

  function option(href, attributes, ...parts) {
    return el('a', { role: 'option', tabindex: '-1', 'aria-selected': 'false', href, ...attributes }, ...parts);
  }

  function draw() {
    const query = input.value;
    if (!index) return;
    const started = performance.now();
    const { groups, exact } = index.find(query, index.data);
    dialog.dataset.took = String(performance.now() - started);
    options = [];
    list.replaceChildren(...groups.map(({ kind, entries }) => {
      const [title] = index.data.kinds[kind];
      const rows = entries.map((entry) => {
        const id = `se-${options.length}`;
        const result = option(new URL(index.addressOf(entry, index.data.kinds), root).href, { id, class: 'se-option' },
          el('span', { class: 'se-title' }, entry.title), el('span', { class: 'se-note' }, entry.note));
        options.push(result);
        if (title !== 'Models') return result;
        result.compare = option(comparison(entry.key), { id: `${id}-compare`, class: 'se-option se-compare', 'aria-label': `Compare ${entry.title}` }, 'Compare');
        return el('div', { class: 'se-model', role: 'presentation' }, result, result.compare);
      });
      const id = `se-kind-${kind}`;
      return el('div', { role: 'group', 'aria-labelledby': id }, el('p', { class: 'se-kind', id, role: 'presentation' }, title), ...rows);
    }));
    const words = query.trim();
    const results = options.length === 1 ? '1 result' : `${options.length} results`;
    status.textContent = !words ? EXAMPLES : exact ? `${results}. Arrows choose, Enter opens; → and Enter compare a model.`
      : options.length ? `Nothing found for “${words}”. Did you mean one of these?` : 'Nothing found. Check the spelling, or use fewer words.';
    input.setAttribute('aria-expanded', String(options.length > 0));
    choose(options[0] ?? null);
    dialog.dataset.query = query;
  }

  async function load() {
    if (index) return;
    status.textContent = 'Loading the index …';
    try {
      const [data, matching] = await Promise.all([getJson(new URL(SOURCE, root), { patience: PATIENCE }), import('./matching.js')]);
      index = { find: matching.find, addressOf: matching.addressOf, data: matching.prepare(data) };
      draw();
    } catch (error) {
      status.textContent = `The search could not be loaded. ${error.message} Close it and open it again to try once more.`;
    }
  }

  const later = debounce(draw, TYPED_AFTER);
  input.addEventListener('input', later);
  input.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    const at = options.findIndex((one) => one === active || one.compare === active);
    const moves = { ArrowDown: options[at + 1] ?? options[0], ArrowUp: options.at(at - 1) };
    if (input.selectionStart === input.value.length) moves.ArrowRight = options[at]?.compare;
    if (active?.matches('.se-compare')) moves.ArrowLeft = options[at];
    if (moves[event.key]) {
      event.preventDefault();
      choose(moves[event.key]);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (later.waiting()) later.now();
      const address = active?.href;
      if (!address) return;
      if (event.ctrlKey || event.metaKey) window.open(address, '_blank', 'noopener');
      else follow(address);
    }
  });
  list.addEventListener('pointerdown', (event) => event.preventDefault()); // the focus stays in the field
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close(); // outside it
  });
  return {
    async open() {
      await styles;
      if (!dialog.open) dialog.showModal();
      input.focus();
      input.select();
      if (index) draw();
      else load();
    },
  };
}

mount(document.querySelector('.site-bar-search'));
