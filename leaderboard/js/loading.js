/** A page whose data come from one address. */

import { button, el, gridStyles, stylesheet } from './dom.js';
import { getJson } from './request.js';

/** Fetches `source` and the sheet `styles` beside the grid's, then calls `show(data)`; `root` says so meanwhile, and why it failed. */
export async function load(root, { source, what, styles }, show) {
  const say = (...parts) => root.replaceChildren(el('div', { class: 'lk-state', role: 'status' }, ...parts));
  if (!root.childElementCount) say(`Loading the ${what} …`); // else the page was sent with the first rows
  let data;
  try {
    [data] = await Promise.all([getJson(new URL(source, document.baseURI)), gridStyles(), stylesheet(styles)]);
  } catch (error) {
    say(`The ${what} could not be loaded. ${error.message}`, button('Try again', () => load(root, { source, what, styles }, show)));
    return;
  }
  show(data);
}
