/** The settings of a computed run: a disclosure that is filled when it is opened. */

import { el, stylesheet } from './dom.js';
import { getJson } from './request.js';

const wired = new WeakSet();

/** A closed disclosure of one run. */
export function runDetails(id, label = 'Run details') {
  const node = el('details', { class: 'lk-run', 'data-run': id }, el('summary', {}, label));
  wire(node);
  return node;
}

/** Makes a `<details data-run="...">` of the page fill itself when it is opened; doing so twice changes nothing. */
export function wire(node) {
  if (wired.has(node)) return;
  wired.add(node);
  stylesheet(new URL('./run_details.css', import.meta.url));
  node.addEventListener('toggle', () => {
    if (node.open && node.dataset.ready !== 'true') fill(node);
  });
}

async function fill(node) {
  const say = (...parts) => {
    node.querySelector('.lk-run-body')?.remove();
    node.append(el('div', { class: 'lk-run-body' }, ...parts));
  };
  say(el('p', { class: 'pg-quiet', role: 'status' }, 'Loading the run …'));
  try {
    const data = await getJson(new URL(`data/run?id=${encodeURIComponent(node.dataset.run)}`, document.baseURI));
    const links = data.links.map(({ text, address }) => el('a', { href: new URL(address, document.baseURI).href }, text));
    say(el('p', { class: 'lk-run-links' }, ...links), ...data.groups.map(group), el('details', { class: 'lk-run-raw' },
      el('summary', {}, 'Stored settings'), el('pre', { tabindex: '0' }, data.settings)));
    node.dataset.ready = 'true';
  } catch (error) {
    say(el('p', { class: 'pg-quiet', role: 'status' }, error.message),
      el('button', { type: 'button', class: 'pg-copy', onclick: () => fill(node) }, 'Try again'));
  }
}

function group({ title, lines }) {
  return el('section', {}, el('h4', {}, title),
    el('dl', {}, ...lines.flatMap(({ label, text }) => [el('dt', {}, label), el('dd', {}, text)])));
}
