/** Small elements that several parts of the page use. */

import { button, el } from '../../js/dom.js';

/** A button of the tray. */
export const press = (text, onclick, attributes = {}) => button(text, onclick, { class: 'tr-button', ...attributes });

/** The page's tray, undefined until it is there. */
export const findTray = () => document.querySelector('.likeness-tray')?.likenessTray;

/** Text for screen readers only. */
export const unseen = (text, attributes = {}) => el('span', { class: 'pg-unseen', ...attributes }, text);

/** A titled part of the page, its title to the left. */
export const section = (title, ...nodes) => el('section', { class: 'tr-section', 'aria-label': title }, el('h2', {}, title), el('div', {}, ...nodes));

/** Puts `nodes` into `parent` in this order, leaves nodes that are already there untouched, and keeps the focus. */
export function arrange(parent, nodes) {
  if (parent.children.length === nodes.length && nodes.every((node, index) => node === parent.children[index])) return;
  const active = document.activeElement;
  parent.replaceChildren(...nodes);
  if (active !== document.activeElement && parent.contains(active)) active.focus({ preventScroll: true });
}

/** Sets text only where it changed: a live region is read again each time. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Enables or disables a button; a disabled one stays in the tab order and says why. */
export function enable(node, able) {
  if (able) node.removeAttribute('aria-disabled');
  else node.setAttribute('aria-disabled', 'true');
}

export const enabled = (node) => node.getAttribute('aria-disabled') !== 'true';
