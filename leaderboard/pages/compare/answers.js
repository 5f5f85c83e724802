/**
 * Blind mode: answers hidden until the visitor has chosen which is right, and a tally that never leaves here. And what
 * answers earlier inputs, after the tray has changed, is told from what answers these.
 */

import { el } from '../../js/dom.js';

const KEY = 'likeness-tally';

/** Listens within `element`, whose markup Python renews. */
export function mount(element) {
  if (element.dataset.answers) return;
  element.dataset.answers = 'true';
  document.head.append(el('link', { rel: 'stylesheet', href: new URL('./answers.css', import.meta.url).href }));
  element.addEventListener('click', (event) => {
    const button = event.target.closest('.cp-choose button');
    if (button) reveal(element.querySelector('.cp-result'), button.dataset.right);
  });
  // What names models elsewhere on the page waits for the choice too.
  const look = () => document.body.classList.toggle('cp-blind', Boolean(element.querySelector(".cp-result[data-state='blind']")));
  new MutationObserver(look).observe(element, { childList: true, subtree: true, attributes: true, attributeFilter: ['data-state'] });
  addEventListener('likeness-tray', ({ detail: { changed, empty } }) => {
    const place = element.closest('#answers') ?? element;
    place.toggleAttribute('data-stale', changed && !empty);
    place.toggleAttribute('data-empty', empty);
    document.body.classList.toggle('cp-outdated', changed && !empty);
    document.body.classList.toggle('cp-emptied', empty);
  });
}

/** What was kept of earlier rounds: model -> { title, right, of }; nothing where the browser keeps nothing. */
export function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return found && typeof found === 'object' && !Array.isArray(found) ? found : {};
  } catch {
    return {};
  }
}

/** The tally after one more round: `right` is the visitor's choice, a model without an answer is not counted. */
export function counted(tally, rows, right) {
  const next = { ...tally };
  rows.forEach(({ model, title, said }) => {
    if (!said || !right) return;
    const { right: before = 0, of = 0 } = next[model] ?? {};
    next[model] = { title, right: before + Number(said === right), of: of + 1 };
  });
  return next;
}

function reveal(result, right) {
  if (!result || result.dataset.state !== 'blind') return;
  const pair = result.dataset.mode === 'pair';
  const rows = [...result.querySelectorAll('.cp-row')].map((row) => ({
    row, model: row.dataset.model, title: row.dataset.title, said: pair ? row.dataset.reading : row.dataset.pick,
  }));
  const tally = counted(kept(), rows, right);
  try {
    localStorage.setItem(KEY, JSON.stringify(tally));
  } catch { /* a browser that keeps nothing: the tally is this round's */ }
  result.dataset.state = 'open';
  result.querySelector('.cp-choose')?.replaceWith(table(tally, right));
  if (right) rows.forEach(({ row, said }) => said && row.classList.add(said === right ? 'cp-right' : 'cp-wrong'));
}

/** The tally as a line a model, the most agreeing first, with a button that forgets it. */
function table(tally, right) {
  const rows = Object.values(tally).sort((one, other) => other.right / other.of - one.right / one.of);
  if (!right || rows.length === 0) return el('p', { class: 'pg-quiet' }, 'The names are shown.');
  const list = rows.map(({ title, right: hits, of }) => el('li', {}, `${title}: ${hits} of ${of}`));
  const node = el('div', { class: 'cp-tally', role: 'status' }, el('p', {}, 'How often each agreed with you, in this browser:'),
    el('ul', { class: 'pg-list' }, ...list));
  const clear = el('button', { type: 'button', class: 'tr-button' }, 'Forget the tally');
  clear.addEventListener('click', () => {
    localStorage.removeItem(KEY);
    node.replaceChildren(el('p', { class: 'pg-quiet' }, 'The tally is forgotten.'));
  });
  node.append(clear);
  return node;
}
