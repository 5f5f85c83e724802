/** What a list says where a search finds nothing: the nearest name that there is, and a way back. */

import { button, el } from './dom.js';
import { nearest } from './nearest.js';

/** `node`, and `refresh(rows, asked, names)`; `onMeant(name)` takes the name that may be meant, `ways` are further buttons. */
export function createNoResults(onMeant, ...ways) {
  const meant = button('', () => onMeant(meant.textContent));
  const question = el('span', {}, 'Did you mean ', meant, '?');
  const node = el('div', { class: 'lk-state lk-empty', role: 'status', hidden: true }, 'Nothing found.', question, ...ways);
  return {
    node,
    refresh(rows, asked, names) {
      node.hidden = rows > 0;
      meant.textContent = node.hidden ? '' : nearest(asked, names);
      question.hidden = !meant.textContent;
    },
  };
}
