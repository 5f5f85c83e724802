/** The bar above every page: lists that open and close, the menu on phones, and the switch of the theme. And what all pages do: links keep the theme, and a frame takes the page's height. */

import { carried } from './address.js';
import { copyLink, copyText } from './dom.js';
import { fillFrame } from './frame.js';
import { revealNamed } from './reveal.js';

const bar = document.querySelector('.site-bar');
const menu = bar.querySelector('.site-bar-menu');
const groups = [...bar.querySelectorAll('.site-bar-group')];
const theme = bar.querySelector('.site-bar-theme');

const listOf = (button) => document.getElementById(button.getAttribute('aria-controls'));
const isOpen = (button) => button.getAttribute('aria-expanded') === 'true';

const set = (button, open) => button.setAttribute('aria-expanded', open);

/** Closes every list but that of `except`. */
function closeLists(except = null) {
  for (const group of groups) if (group !== except) set(group, false);
}

for (const group of groups) {
  group.addEventListener('click', () => {
    closeLists(group);
    set(group, !isOpen(group));
  });
}
menu.addEventListener('click', () => {
  closeLists();
  set(menu, !isOpen(menu));
});

document.addEventListener('pointerdown', (event) => {
  if (bar.contains(event.target)) {
    if (!event.target.closest('nav li')) closeLists();
  } else {
    closeLists();
    set(menu, false);
  }
});
bar.addEventListener('focusout', ({ target, relatedTarget }) => {
  if (!relatedTarget) return; // the window lost the focus, or a click went where nothing takes it
  const item = target.closest('nav > ul > li');
  if (item && !item.contains(relatedTarget)) closeLists();
  if (!bar.contains(relatedTarget)) set(menu, false);
});

/** What the arrows walk through: the links of an open list, else the entries of the bar. */
function stops(from) {
  const list = from.closest('li ul');
  if (list) return [...list.querySelectorAll('a')];
  return [...bar.querySelectorAll('nav > ul > li > :is(a, button)')];
}

const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

bar.querySelector('nav').addEventListener('keydown', (event) => {
  const from = event.target.closest('a, button');
  if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = stops(from);
  let to = null;
  if (event.key === 'ArrowDown' && groups.includes(from)) {
    closeLists(from);
    set(from, true);
    to = listOf(from).querySelector('a');
  } else if (event.key in STEPS) to = all[(all.indexOf(from) + STEPS[event.key] + all.length) % all.length];
  else if (event.key === 'Home') [to] = all;
  else if (event.key === 'End') to = all.at(-1);
  if (!to) return;
  event.preventDefault();
  to.focus();
});
bar.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  const button = groups.find(isOpen) ?? (isOpen(menu) ? menu : null);
  if (!button) return;
  event.stopPropagation();
  set(button, false);
  button.focus();
});

const isDark = () => document.body.classList.contains('dark');
const tell = () => theme.setAttribute('aria-pressed', isDark());
theme.addEventListener('click', () => {
  const dark = !isDark();
  document.body.classList.toggle('dark', dark);
  const chosen = dark ? 'dark' : 'light';
  try { localStorage.setItem('likeness-theme', chosen); } catch { /* storage is off: for this page only */ }
  const query = location.search.replace(/([?&]__theme=)[^&]*/, `$1${chosen}`);
  history.replaceState(history.state, '', location.pathname + query + location.hash);
});
document.querySelector('.site-bar-skip').addEventListener('click', () => document.getElementById('content').focus());
new MutationObserver(tell).observe(document.body, { attributeFilter: ['class'] });
tell();

// A press of any button, and then a click, which the keyboard gives too.
for (const kind of ['pointerdown', 'click']) {
  document.addEventListener(kind, ({ target }) => {
    const link = target.closest?.('a[href]');
    const href = link && carried(link.href, location.href);
    if (link && href !== link.href) link.href = href; // an address within the page stays as it is
  }, { capture: true });
}
document.addEventListener('click', ({ target }) => {
  const copies = target.closest?.('.pg-heading .pg-copy, .pg-code .pg-copy');
  const code = copies?.closest('.pg-code');
  if (code) copyText(copies, code.querySelector('pre').textContent);
  else if (copies) copyLink(copies, location.href);
});

fillFrame(bar.dataset.sizer);
revealNamed();
theme.dataset.ready = true;
