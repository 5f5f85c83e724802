/** The result of Compare: read aloud and brought into view whenever a visitor's choice changes it. */

import { withValues } from '../../js/address.js';
import { el, follow } from '../../js/dom.js';
import { show } from '../../js/reveal.js';

/** Watches the component at `root`, whose first answer is that of the page's address. */
export function mount(root) {
  const status = el('p', { class: 'pg-unseen', role: 'status' });
  root.after(status);
  // The field takes the titles of its list; the address, which is parsed again, also hub ids and parts of names.
  document.addEventListener('keydown', (event) => {
    const typed = event.key === 'Enter' && event.target.closest?.('.bc-models input')?.value.trim();
    if (!typed || document.querySelector('.bc-models [role=option]')) return;
    const models = new URLSearchParams(location.search).get('models');
    follow(`compare?${withValues(location.search, { models: [models, typed].filter(Boolean).join() })}`);
  }, true);
  let opened = false;
  new MutationObserver(() => {
    const answer = root.querySelector('[data-answer]');
    if (!answer) return;
    const name = answer.querySelector('.pg-name');
    if (opened) {
      status.textContent = answer.querySelector('.pg-lead').textContent;
      const { activeElement } = document;
      // The list of models stays open over the result, for another one to choose.
      if (name && activeElement.getAttribute('aria-expanded') === 'true' && !activeElement.value) name.focus({ preventScroll: true });
      show(answer);
    }
    opened = true;
  }).observe(root, { childList: true, subtree: true });
}
