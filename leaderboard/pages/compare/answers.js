/**
 * Answers as they come: brought into view and announced. Blind mode: names are hidden until the visitor has chosen the
 * right answer; the tally never leaves the browser. Answers to earlier inputs are marked as soon as the tray changes.
 */

import { el, stylesheet } from '../../js/dom.js';
import { Arrival } from './arrival.js';

const KEY = 'likeness-tally';

/** Listens within `element`, whose markup Python renews. */
export function mount(element) {
  if (element.dataset.answers) return;
  element.dataset.answers = 'true';
  stylesheet(new URL('./answers.css', import.meta.url));
  element.addEventListener('click', (event) => {
    const button = event.target.closest('.cp-choose button');
    if (button) reveal(element.querySelector('.cp-result'), button.dataset.right);
  });
  const arrival = new Arrival(element);
  const look = () => {
    // What names models elsewhere on the page waits for the choice too.
    document.body.classList.toggle('cp-blind', Boolean(element.querySelector(".cp-result[data-state='blind']")));
    arrival.look();
  };
  new MutationObserver(look).observe(element, { childList: true, subtree: true, attributes: true, attributeFilter: ['data-state'] });
  addEventListener('likeness-tray', ({ detail: { changed, empty } }) => {
    const answers = element.closest('#answers') ?? element;
    answers.toggleAttribute('data-stale', changed && !empty);
    answers.toggleAttribute('data-empty', empty);
    document.body.classList.toggle('cp-outdated', changed && !empty);
    document.body.classList.toggle('cp-emptied', empty);
  });
}

/** The tally of earlier rounds: model -> { title, right, of }; empty where the browser stores nothing. */
export function storedTally() {
  try {
    const tally = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return tally && typeof tally === 'object' && !Array.isArray(tally) ? tally : {};
  } catch {
    return {};
  }
}

/** The tally after one more round: `right` is the visitor's choice, a model without an answer is not counted. */
export function counted(tally, rows, right) {
  const next = { ...tally };
  rows.forEach(({ model, title, answer }) => {
    if (!answer || !right) return;
    const { right: before = 0, of = 0 } = next[model] ?? {};
    next[model] = { title, right: before + Number(answer === right), of: of + 1 };
  });
  return next;
}

function reveal(result, right) {
  if (!result || result.dataset.state !== 'blind') return;
  const pair = result.dataset.mode === 'pair';
  const rows = [...result.querySelectorAll('.cp-row')].map((row) => ({
    row, model: row.dataset.model, title: row.dataset.title, answer: pair ? row.dataset.reading : row.dataset.pick,
  }));
  const tally = counted(storedTally(), rows, right);
  try {
    localStorage.setItem(KEY, JSON.stringify(tally));
  } catch { /* a browser that stores nothing: the tally is this round's */ }
  result.dataset.state = 'open';
  result.querySelector('.cp-choose')?.replaceWith(table(tally, right));
  if (right) rows.forEach(({ row, answer }) => answer && row.classList.add(answer === right ? 'cp-right' : 'cp-wrong'));
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
    node.replaceChildren(el('p', { class: 'pg-quiet' }, 'The tally is cleared.'));
  });
  node.append(clear);
  return node;
}
