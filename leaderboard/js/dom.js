/** Small DOM helpers. Data only ever enters the page as text or as an attribute, never as markup. */

/** Makes an element; `onclick` style keys become listeners, true/false/null attributes are set or left out. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key === 'class') node.className = value;
    else if (key === 'value' || key === 'checked') node[key] = value;
    else if (value === true) node.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A button of the board; Gradio styles bare buttons, so every one carries a class of ours. */
export function button(text, onclick, attributes = {}) {
  const node = el('button', { type: 'button', class: 'lk-button', ...attributes }, text);
  if (onclick) node.addEventListener('click', onclick);
  return node;
}

let own = null;

const sheets = new Set();

/** Adds a style sheet that lies beside this file, once. */
export function sheet(name) {
  if (sheets.has(name)) return;
  sheets.add(name);
  document.head.append(el('link', { rel: 'stylesheet', href: new URL(`./${name}`, import.meta.url).href }));
}

/** Adds board.css once and resolves when it applies (or failed to load: the table still works unstyled). */
export function stylesheet(extra) {
  if (own) return own;
  own = new Promise((resolve) => {
    const link = el('link', { rel: 'stylesheet', href: new URL('./board.css', import.meta.url).href });
    link.addEventListener('load', resolve, { once: true });
    link.addEventListener('error', resolve, { once: true });
    const style = el('style');
    style.textContent = extra;
    document.head.append(link, style);
  });
  return own;
}

/**
 * A button which opens a panel below itself. The panel lives in the browser's top layer (popover), so no
 * container clips it, and Esc or a click outside closes it without a listener on the document.
 * `fill(panel)` draws the content each time it opens; closing empties the panel again.
 */
export function popover(label, fill, { name = label, panelClass = '' } = {}) {
  const panel = el('div', { class: `lk-panel ${panelClass}`, popover: 'auto', role: 'dialog', 'aria-label': name });
  const opener = button(label, null, { 'aria-haspopup': 'dialog', 'aria-expanded': 'false' });
  opener.popoverTargetElement = panel;
  panel.addEventListener('beforetoggle', (event) => {
    if (event.newState === 'open') fill(panel);
  });
  panel.addEventListener('toggle', (event) => {
    const open = event.newState === 'open';
    opener.setAttribute('aria-expanded', String(open));
    if (!open) {
      panel.replaceChildren();
      return;
    }
    const box = opener.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const left = Math.max(8, Math.min(box.left, width - panel.offsetWidth - 8));
    panel.style.left = `${left + window.scrollX}px`;
    panel.style.top = `${box.bottom + 6 + window.scrollY}px`;
    panel.querySelector('input, button, a')?.focus({ preventScroll: true });
  });
  return { opener, panel, close: () => panel.matches(':popover-open') && panel.hidePopover() };
}

let pen = null;
const widths = new Map();

/** The width of a text in px; `font` as in CSS. */
export function textWidth(text, font) {
  const key = `${font}\n${text}`;
  if (!widths.has(key)) {
    pen ??= document.createElement('canvas').getContext('2d');
    pen.font = font;
    widths.set(key, pen.measureText(text).width);
  }
  return widths.get(key);
}

/** Forgets measured widths: they were taken before the page's font had loaded. */
export const forgetWidths = () => widths.clear();

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
