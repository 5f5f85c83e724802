/** Small pieces of the page that several parts draw. */

import { el } from '../../js/dom.js';

/** A button of the tray; Gradio styles bare buttons, so every one carries a class of ours. */
export function press(text, onclick, attributes = {}) {
  return el('button', { type: 'button', class: 'tr-button', onclick, ...attributes }, text);
}

/** Words only for those who listen to the page. */
export const unseen = (text, attributes = {}) => el('span', { class: 'tr-unseen', ...attributes }, text);

/** A titled part of the page: its name stands beside what it holds. */
export function section(title, ...nodes) {
  return el('section', { class: 'tr-section', 'aria-label': title }, el('h3', {}, title), el('div', {}, ...nodes));
}

/** Puts `nodes` into `parent` in this order, touches nothing that is in place, and leaves the focus where it was. */
export function arrange(parent, nodes) {
  if (parent.children.length === nodes.length && nodes.every((node, place) => node === parent.children[place])) return;
  const active = document.activeElement;
  parent.replaceChildren(...nodes);
  if (active !== document.activeElement && parent.contains(active)) active.focus({ preventScroll: true });
}

/** Sets text only where it changed: a live region is read anew each time. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A button that cannot be used now stays in the order of the keys, and says so. */
export function enable(node, able) {
  if (able) node.removeAttribute('aria-disabled');
  else node.setAttribute('aria-disabled', 'true');
}

export const enabled = (node) => node.getAttribute('aria-disabled') !== 'true';

/** A line which can be dismissed, with a Retry where there is something to retry. */
export function createNotice() {
  const text = el('span');
  const action = el('span');
  const node = el('div', { class: 'tr-notice', hidden: true }, el('div', { role: 'status', dir: 'auto' }, text), action,
    press('×', () => show(''), { class: 'tr-icon', 'aria-label': 'Dismiss' }));

  function show(words, retry = null) {
    text.textContent = words;
    node.hidden = !words;
    action.replaceChildren(...(retry ? [press('Retry', retry)] : []));
  }

  // What can be tried again stays until it is, or is dismissed.
  return { node, say: show, clear: () => action.hasChildNodes() || show('') };
}
