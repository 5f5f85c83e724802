/** The question to the models: the mode as a row of radio buttons, and the question of mode `quality`. */

import { el } from '../../../js/dom.js';
import { arrange, say, unseen } from '../parts.js';
import { ABOUT } from '../words.js';

let made = 0;

export function createModes(tray) {
  const name = `tr-mode-${++made}`;
  const row = el('div', { class: 'tr-segments', role: 'radiogroup', 'aria-label': 'Mode' });
  const select = el('select', { class: 'tr-select', onchange: () => tray.choose({ question: select.value }) });
  const question = el('label', { class: 'tr-question' }, 'Attribute', select);
  const choices = new Map();
  let questions = '';

  function choice(key) {
    const input = el('input', { type: 'radio', name, value: key, 'aria-describedby': `${name}-${key}`, onchange: () => tray.choose({ chosenMode: key }) });
    const title = el('span', { dir: 'auto' });
    const why = unseen('', { id: `${name}-${key}` });
    const label = el('label', { class: 'tr-segment', 'data-key': key }, input, title);
    return { node: el('div', {}, label, why), input, label, title, why };
  }

  function refresh() {
    const { plan, mode } = tray;
    if (!plan) return;
    arrange(row, plan.modes.map(({ key, title, fits, why }) => {
      if (!choices.has(key)) choices.set(key, choice(key));
      const { node: part, input, label, title: words, why: reason } = choices.get(key);
      say(words, title);
      say(reason, fits ? ABOUT[key] ?? '' : why);
      label.title = reason.textContent;
      // The current mode stays available while the server answers the next request.
      input.disabled = !fits && key !== mode;
      input.checked = key === mode;
      return part;
    }));
    question.hidden = mode !== 'quality';
    const keys = plan.questions.map(({ key, title }) => `${key} ${title}`).join();
    if (keys !== questions) {
      questions = keys;
      select.replaceChildren(...plan.questions.map(({ key, title }) => el('option', { value: key }, title)));
    }
    select.value = tray.question;
  }

  return { nodes: [row, question], refresh };
}
