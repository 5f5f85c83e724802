/** Two boxes that lead to Compare, which names what it does not know. They suggest the models that have scores, as soon as one is used. */

import { encodedKey } from '../../js/address.js';
import { el, follow } from '../../js/dom.js';
import { getJson } from '../../js/request.js';

export function mount(root) {
  const form = root.querySelector('.ov-compare');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    follow(`compare?models=${[...form.querySelectorAll('.ov-input')].map(({ value }) => encodedKey(value)).join(',')}`);
  });
  form.addEventListener('focusin', async () => {
    const { kinds, entries } = await getJson(new URL('data/search', document.baseURI)).catch(() => ({ entries: [] })); // Compare suggests, too
    const scored = entries.filter(([kind, , , , , matters]) => kinds[kind][0] === 'Models' && matters);
    form.querySelector('datalist').replaceChildren(...scored.map(([, title, , key]) => el('option', { value: key, label: title })));
  }, { once: true });
}
