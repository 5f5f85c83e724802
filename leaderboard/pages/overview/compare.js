/** Two boxes that lead to Compare. They suggest the models that have scores, as soon as one is used, and take a title, a key, or something near one. */

import { encodedKey } from '../../js/address.js';
import { el, follow } from '../../js/dom.js';
import { nearest } from '../../js/nearest.js';
import { getJson } from '../../js/request.js';

export function mount(root) {
  const form = root.querySelector('.ov-compare');
  const boxes = [...form.querySelectorAll('.ov-input')];
  const said = form.querySelector('.ov-said');
  let loading = null;

  /** The models with scores: {keys: by title, titles: by title and by key}. */
  function models() {
    loading ??= getJson(new URL('data/search', document.baseURI)).then(({ kinds, entries }) => {
      const scored = entries.filter(([kind, , , , , matters]) => kinds[kind][0] === 'Models' && matters);
      form.querySelector('datalist').replaceChildren(...scored.map(([, title, note]) => el('option', { value: title }, note)));
      const keys = new Map(scored.map(([, title, , key]) => [title, key]));
      return { keys, titles: new Map([...keys].flatMap(([title, key]) => [[title, title], [key, title]])) };
    }).catch((error) => {
      loading = null;
      throw error;
    });
    return loading;
  }

  /** Why the boxes do not name two models, as a sentence; what may be meant is put into them. */
  function problem({ titles }) {
    const missing = boxes.find((box) => !titles.has(box.value) && !nearest(box.value, titles.keys()));
    if (missing) return `Nothing found for “${missing.value}”. Take a model from the list.`;
    const meant = [];
    for (const box of boxes) {
      const title = titles.get(box.value) ?? titles.get(nearest(box.value, titles.keys()));
      if (!titles.has(box.value)) meant.push(`“${title}”`);
      box.value = title;
    }
    if (meant.length) return `Did you mean ${meant.join(' and ')}? Press Compare again.`;
    return boxes[0].value === boxes[1].value ? 'Both are the same model. Change one of them.' : '';
  }

  form.addEventListener('focusin', () => models().catch(() => {})); // a press of Compare says what is wrong
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const known = await models();
      said.textContent = problem(known);
      if (!said.textContent) follow(`compare?models=${boxes.map(({ value }) => encodedKey(known.keys.get(value))).join(',')}`);
    } catch (error) {
      said.textContent = `The models could not be loaded. ${error.message}`;
    }
  });
}
