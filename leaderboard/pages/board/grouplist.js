/** A searchable list of checkboxes in groups, each group with All and None: for columns and for tasks. */

import { button, el } from '../../js/dom.js';
import { createNoResults } from '../../js/no_results.js';

/** Fills `panel`. `groups`: [{title, items: [{key, title, hint}]}]; `chosen`: a Set; `onChange(chosen)` after each change; `head(chosen)` is the line which counts. */
export function fillGroupList(panel, { groups, chosen, onChange, head, label }) {
  const count = el('p', { class: 'lk-count', role: 'status' });
  const boxes = new Map();
  const sections = groups.map(({ title, items }) => {
    const all = (on) => () => {
      for (const { key } of items.filter((item) => !boxes.get(item.key).parentNode.hidden)) {
        boxes.get(key).checked = on;
        if (on) chosen.add(key);
        else chosen.delete(key);
      }
      changed();
    };
    const rows = items.map(({ key, title: name, hint }) => {
      const box = el('input', { type: 'checkbox', checked: chosen.has(key), onchange: () => {
        if (box.checked) chosen.add(key);
        else chosen.delete(key);
        changed();
      } });
      boxes.set(key, box);
      return { name: name.toLowerCase(), node: el('label', { title: hint }, box, name) };
    });
    const node = el('section', { role: 'group', 'aria-label': title },
      el('div', { class: 'lk-listhead' }, el('h4', {}, title),
        button('All', all(true), { class: 'lk-link', 'aria-label': `All of ${title}` }),
        button('None', all(false), { class: 'lk-link', 'aria-label': `None of ${title}` })),
      el('div', { class: 'lk-list' }, ...rows.map((row) => row.node)));
    return { node, rows, title: title.toLowerCase() };
  });
  const search = el('input', { type: 'search', class: 'lk-input', placeholder: label, 'aria-label': label, oninput: narrow });

  const noResults = createNoResults((name) => {
    search.value = name;
    narrow();
  });

  function narrow() {
    const text = search.value.trim().toLowerCase();
    for (const { node, rows, title } of sections) {
      const whole = title.includes(text);
      let any = false;
      for (const row of rows) {
        row.node.hidden = !whole && !row.name.includes(text);
        any ||= !row.node.hidden;
      }
      node.hidden = !any;
    }
    noResults.refresh(sections.filter(({ node }) => !node.hidden).length, text, [...boxes.values()].map((box) => box.parentNode.textContent));
  }

  function changed() {
    count.textContent = head(chosen);
    onChange(chosen);
  }

  /** Ticks exactly these keys, without a call of onChange. */
  function set(keys) {
    chosen.clear();
    keys.forEach((key) => chosen.add(key));
    boxes.forEach((box, key) => { box.checked = chosen.has(key); });
    count.textContent = head(chosen);
  }

  count.textContent = head(chosen);
  panel.append(search, count, el('div', { class: 'lk-sections' }, ...sections.map(({ node }) => node)), noResults.node);
  return { set };
}
