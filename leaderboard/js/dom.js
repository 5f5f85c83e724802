/** Elements, links, style sheets and timers for the scripts of all pages. Data enters a page as text or attributes only, never as markup. */

import { carried, isElsewhere, withData, withoutTheme, withoutToday } from './address.js';

/** Makes an element; `onclick` style keys become listeners, true/false/null attributes are set or omitted. A link to another site opens in a new tab. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key === 'class') node.className = value;
    else if (key === 'value' || key === 'checked') node[key] = value;
    else if (value === true) node.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  if (tag === 'a' && isElsewhere(node.href, location.href)) Object.assign(node, { target: '_blank', rel: 'noopener noreferrer' });
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A button; Gradio styles bare buttons, so every one carries a class of ours. */
export function button(text, onclick, attributes = {}) {
  const node = el('button', { type: 'button', class: 'lk-button', ...attributes }, text);
  if (onclick) node.addEventListener('click', onclick);
  return node;
}

const sheets = new Map();

/** Adds the style sheet at `address` once; resolves when it applies or failed to load: a page still works unstyled. */
export function stylesheet(address) {
  const { href } = address;
  if (!sheets.has(href)) {
    sheets.set(href, new Promise((resolve) => { document.head.append(el('link', { rel: 'stylesheet', href, onload: resolve, onerror: resolve })); }));
  }
  return sheets.get(href);
}

/** The style sheet of `Grid`. */
export const gridStyles = () => stylesheet(new URL('./grid.css', import.meta.url));

/** A message that can be dismissed, with a Retry button where an action can be tried again. Each page gives its own class names. */
export function createNotice({ notice, close, action: actionClass }) {
  const text = el('span');
  const action = el('span');
  const node = el('div', { class: notice, hidden: true }, el('div', { role: 'status', dir: 'auto' }, text), action,
    button('×', () => show(''), { class: close, 'aria-label': 'Dismiss' }));

  function show(message, retry = null) {
    text.textContent = message;
    node.hidden = !message;
    action.replaceChildren(...(retry ? [button('Retry', retry, { class: actionClass })] : []));
  }

  // A message with a Retry stays until the action succeeds or the visitor dismisses it.
  return { node, say: show, clear: () => action.hasChildNodes() || show('') };
}

/** Opens an address as a link to it does. */
export function follow(address) {
  const { href } = new URL(address, document.baseURI);
  if (isElsewhere(href, location.href)) window.open(href, '_blank', 'noopener,noreferrer');
  else location.assign(carried(href, location.href));
}

/** Gives the page another query string, where it differs; `push` keeps the one before in the history. */
export function writeQuery(query, { push = false } = {}) {
  const address = `${location.pathname}${query ? `?${query}` : ''}${location.hash}`;
  if (address === `${location.pathname}${location.search}${location.hash}`) return;
  if (push) history.pushState(history.state, '', address);
  else history.replaceState(history.state, '', address);
}

const COPIED_FOR = 1500; // ms

/** Copies a link, whose reader has their own theme and sees the same version of the data, as `copyText`. */
export const copyLink = (node, address, show) => copyText(node, withData(withoutToday(withoutTheme(address)), document.querySelector('.site-state')?.dataset.version), show);

/** Copies a text and says so on the button; false where the browser does not allow it, after `show` has shown the text. */
export async function copyText(node, text, show = (shown) => window.prompt('Copy this', shown)) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    show(text);
    return false;
  }
  const label = node.dataset.label ??= node.textContent;
  node.textContent = 'Copied';
  setTimeout(() => { node.textContent = label; }, COPIED_FOR);
  return true;
}

/** Has the browser save a Blob. */
export function save(blob, download) {
  const href = URL.createObjectURL(blob);
  el('a', { href, download }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/** Calls `run` once, `wait` ms after the last call; `.now()` runs a waiting call at once. */
export function debounce(run, wait) {
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(later.now, wait);
  };
  later.waiting = () => timer !== 0;
  later.now = () => {
    clearTimeout(timer);
    timer = 0;
    run();
  };
  return later;
}
