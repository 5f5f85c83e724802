/** A button with a panel that opens below it, in the browser's top layer: no container clips it, and Esc or a click outside closes it. */

import { button, el } from '../../js/dom.js';

const WIDE = 1200; // px of a page where a panel has room beside the table

/** `fill(panel)` draws the content each time it opens; closing empties the panel again. On a wide page it opens at the right end of `beside()`, an element, where that is given. */
export function popover(label, fill, { name = label, panelClass = '', beside = null } = {}) {
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
    const place = beside && width >= WIDE ? beside().getBoundingClientRect() : null;
    const left = Math.max(8, Math.min(place ? place.right - panel.offsetWidth : box.left, width - panel.offsetWidth - 8));
    panel.style.left = `${left + window.scrollX}px`;
    panel.style.top = `${(place ? place.top : box.bottom + 6) + window.scrollY}px`;
    panel.querySelector('input, button, a')?.focus({ preventScroll: true });
  });
  return { opener, panel, close: () => panel.matches(':popover-open') && panel.hidePopover() };
}
